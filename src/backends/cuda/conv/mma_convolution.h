// What convolutions on the tensor cores of a warp have in common: rows of the product are places of
// the result, columns its channels.
#pragma once

#include <string>

#include "backends/cuda/conv/convolution.h"

namespace camshaft::cuda {

// One-dimensional images have one row.
struct MmaConvolution {
  Convolution conv;
  Window y, x;
  Dim height = 1, breadth, outHeight = 1, outBreadth;
  int64_t elementBytes = 1;
  std::string refusal;  // why it cannot be; empty: it can

  MmaConvolution(const Node& node, const BuildTarget& target);
  int64_t channelBytes() const { return conv.groupInputs * elementBytes; }

 private:
  std::string whyNot(const Node& node, const BuildTarget& target) const;
};

}  // namespace camshaft::cuda
