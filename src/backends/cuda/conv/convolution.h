// A Conv, ConvTranspose or ConvInteger node as the generated kernels see it.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/codegen/store.h"
#include "ops/window.h"

namespace camshaft::cuda {

struct Convolution {
  static constexpr int kBias = 2;

  bool isTransposed = false;
  ImageLayout layout;
  const Shape &from, &to;
  std::vector<Window> windows;
  int64_t groups = 1;
  int64_t groupInputs = 0, groupOutputs = 0;  // channels
  bool hasBias = false;                       // as input kBias
  std::string refusal;                        // why it cannot be; empty: it can

  explicit Convolution(const Node& node);

  int64_t inputs() const { return groups * groupInputs; }
  int64_t outputs() const { return groups * groupOutputs; }
  int64_t taps() const;
  size_t spatialRank() const { return windows.size(); }
  const Dim& fromSize(size_t i) const { return from[layout.spatialAxis(static_cast<int64_t>(i))]; }
  const Dim& toSize(size_t i) const { return to[layout.spatialAxis(static_cast<int64_t>(i))]; }
};

// Prints how a kernel that has channels last stores `width` channels from c on of pixel p:
// store(p, c, results).
void printPixelStore(KernelText& kernel, const Node& node, int width);

}  // namespace camshaft::cuda
