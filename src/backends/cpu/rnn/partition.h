// How a recurrent layer is divided among threads, and what memory that takes. Both halves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/rnn/params.h"
#include "backends/cpu/rnn/weights.h"

namespace camshaft::cpu::rnn {

// Sequences do not depend on one another, nor do directions. A part is some sequences in one
// direction, from the first step to the last.
struct Division {
  int64_t slices = 1;  // of the batch
  int64_t rows = 0;    // in each but the last, which may be empty
};

inline Division divide(const Params& p, int64_t batch, int threads) {
  constexpr int64_t kFewestRows = 4;  // with fewer, loads of weights outnumber multiplications
  const int64_t wanted = ceilDiv(threads, p.directions);
  const int64_t slices = std::clamp<int64_t>(batch / kFewestRows, 1, wanted);
  return {slices, ceilDiv(batch, slices)};
}

// The input's share of the gates is computed for so many steps at once that its rows are as many as
// this, if not those of one step alone are more: few enough to stay in the cache until they are
// used.
inline constexpr int64_t kRowsAtOnce = 128;

inline int64_t stepsAtOnce(int64_t rows) {
  return std::max<int64_t>(1, kRowsAtOnce / std::max<int64_t>(1, rows));
}

// Of a part with so many rows: gates from the input and from the state; h, c and the reset state.
inline int64_t partFloats(const Params& p, int64_t rows) {
  return (std::max(kRowsAtOnce, rows) + rows) * gateStride(p) + 3 * rows * stateStride(p);
}

// Never less for a larger batch, and enough for one part with all rows.
inline int64_t workspaceFloatsFor(const Params& p, int64_t batch, int threads) {
  const Division division = divide(p, batch, threads);
  const int64_t packed = p.operands.packed < 0 ? p.directions * PackedLayout(p).floats : 0;
  return packed + p.directions * division.slices * partFloats(p, division.rows);
}

}  // namespace camshaft::cpu::rnn
