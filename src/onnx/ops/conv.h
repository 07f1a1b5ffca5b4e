#pragma once

#include "onnx/node_import.h"
#include "ops/conv.h"

namespace camshaft::onnx::importer {

// This node's window attributes. Where its pads are known at run time only x becomes the padded
// input, whose padding has the value of a scalar or is zero.
ConvAttrs convolutionOf(const NodeImport& node, Value*& x, Value* weights,
                        Value* padding = nullptr);
// A convolution with them.
Value* convolve(const NodeImport& node, Value* x, Value* weights, Value* bias);

// [N, spatial..., C] as [N, C, spatial...], and back.
Value* channelsFirst(const NodeImport& node, Value* x);
Value* channelsLast(const NodeImport& node, Value* x);

}  // namespace camshaft::onnx::importer
