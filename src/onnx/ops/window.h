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
// Pads that are known at run time only, one of each per spatial dimension. Windows have none then:
// it is the input that is padded.
struct RunTimePads {
  std::vector<Dim> begin, end;
};
// Turns auto_pad SAME into pads that keep ceil(size / stride) outputs; what is returned is to be
// added to the input.
std::optional<RunTimePads> padSame(const NodeImport& node, Window& window, const Shape& input);
// x [N, C, spatial...] with these around it; they hold one number, or zero.
Value* padded(const NodeImport& node, Value* x, const RunTimePads& pads, Value* number = nullptr);
// Weights [M, C/groups, kernel...] whose window is known: from their shape, or from kernel_shape.
Value* weightsOf(const NodeImport& node, Value* weights);
// Spatial sizes of such weights.
std::vector<int64_t> kernelOf(const NodeImport& node, const Value* x, const Value* weights);

}  // namespace camshaft::onnx::importer
