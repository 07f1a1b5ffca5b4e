#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// NumPy's matmul: a vector operand is a row (a) or a column (b) whose dimension is dropped again.
Value* multiply(const NodeImport& node, Value* a, Value* b);

}  // namespace camshaft::onnx::importer
