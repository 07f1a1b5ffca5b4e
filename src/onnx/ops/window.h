// The window of convolutions and poolings: kernel, strides, dilations and pads, auto_pad resolved.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

struct Window {
  std::vector<int64_t> kernel, strides, dilations, padsBegin, padsEnd;
  bool ceilMode = false;
  int64_t rank() const { return static_cast<int64_t>(kernel.size()); }
  // Reach of the kernel along one dimension, dilation included.
  int64_t extent(int64_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

// `kernel` is the weights' when they have one, else the attribute kernel_shape counts.
Window windowOf(const NodeImport& node, std::vector<int64_t> kernel);
// Turns auto_pad SAME into pads that keep ceil(size / stride) outputs.
void padSame(const NodeImport& node, Window& window, const Shape& input);
// Spatial sizes of constant or static weights [M, C/groups, kernel...].
std::vector<int64_t> kernelOf(const NodeImport& node, const Value* x, const Value* weights);

}  // namespace camshaft::onnx::importer
