// Tensors read under the index of another, larger one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/launch.h"
#include "backends/cpu/pointwise/program.h"

namespace camshaft::cpu::pointwise {

// The output's dimensions, those along which all inputs move alike merged into one; the last one
// is the row. Along it an input either moves with the output (step 1) or stands still (step 0).
struct Broadcast {
  struct Input {
    const std::byte* data;
    int64_t width;              // bytes of an element
    int64_t strides[kMaxRank];  // elements, per merged dimension
    bool isFlat;                // laid out exactly like the output
    int64_t step(int rank) const { return strides[rank - 1]; }
  };

  int rank = 1;
  int64_t dims[kMaxRank] = {1};
  int inputCount = 0;
  Input inputs[kMaxInputs];

  // Throws Error, naming the sizes, when an input's dimension neither equals the output's nor is 1.
  // With keepLast the row is the output's last dimension even if more could be merged.
  Broadcast(std::span<const TensorArg> inputs, const TensorArg& output, bool keepLast = false);

  int64_t rowLength() const { return dims[rank - 1]; }
  int64_t rows() const;
  // First element of input i in a row.
  int64_t rowOffset(int input, int64_t row) const;
  // Elements [begin, begin + count) of input i as the flat output sees them, copied to `to`.
  void gather(int input, int64_t begin, int64_t count, std::byte* to) const;
  // The same of columns [column, column + count) of some rows, put side by side.
  void gatherRows(int input, int64_t row, int64_t rows, int64_t column, int64_t count,
                  std::byte* to) const;

 private:
  // Where input i has the rows of the output, one after the other.
  class RowWalk;
};

}  // namespace camshaft::cpu::pointwise
