#pragma once

#include "onnx/node_import.h"
#include "support/function_ref.h"

namespace camshaft::onnx::importer {

// NumPy's matmul: a vector operand is a row (a) or a column (b) whose dimension is dropped again.
Value* multiply(const NodeImport& node, Value* a, Value* b);
// The same with another product of two operands that are matrices or more.
Value* multiply(const NodeImport& node, Value* a, Value* b,
                FunctionRef<Value*(Value* a, Value* b)> product);

}  // namespace camshaft::onnx::importer
