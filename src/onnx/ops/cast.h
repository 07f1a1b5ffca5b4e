// Conversions that differ from that of Pointwise.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// The bits of each element as another type of the same width.
Value* bitCast(const NodeImport& node, Value* x, DataType to);

// To a float of 8 bits, where what is out of its range becomes NaN or infinity.
Value* castUnsaturated(const NodeImport& node, Value* x, DataType type);

}  // namespace camshaft::onnx::importer
