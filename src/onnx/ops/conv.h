#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// A convolution with this node's window attributes.
Value* convolve(const NodeImport& node, Value* x, Value* weights, Value* bias);

// [N, spatial..., C] as [N, C, spatial...], and back.
Value* channelsFirst(const NodeImport& node, Value* x);
Value* channelsLast(const NodeImport& node, Value* x);

}  // namespace camshaft::onnx::importer
