// Images of few channels, padded, in bf16: the part of a patch that lies in a line of the image is
// one run there, of kernel width times channels, and a patch as many runs as the kernel is high.
#pragma once

#include <vector>

#include "backends/cpu/conv/algorithms.h"

namespace camshaft::cpu {

class PaddedLines {
 public:
  PaddedLines(const ConvShape& shape, const ConvExtent& extent, float* memory);
  static bool supports(const ConvShape& shape);

  int64_t floats() const;  // of memory
  void fill(const ConvCall& call);
  // The patches of `count` output pixels as a panel of the product (gemm/tile16.h).
  void pack(int64_t pixel, int64_t count, uint16_t* panel) const;

 private:
  // What one load takes from a patch to a step of its row of a panel.
  struct Piece {
    int64_t from;   // halves from the patch's first value to what the step begins with
    uint32_t bits;  // of 32 halves
  };

  template <class T>
  void fillLine(const T* input, int64_t line, uint16_t* to) const;

  const ConvShape& shape_;
  const ConvExtent& extent_;
  const int64_t outHeight_, outWidth_;
  const int64_t lines_, pitch_;  // of an image, and halves between them
  std::vector<std::vector<Piece>> steps_;
  uint16_t* const halves_;
};

}  // namespace camshaft::cpu
