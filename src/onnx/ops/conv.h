#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// A convolution with this node's window attributes.
Value* convolve(const NodeImport& node, Value* x, Value* weights, Value* bias);

}  // namespace camshaft::onnx::importer
