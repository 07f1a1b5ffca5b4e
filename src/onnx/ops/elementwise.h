// Operators that are one scalar operation.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importUnary(NodeImport& node, ScalarOp op);
void importBinary(NodeImport& node, ScalarOp op);

// B as it broadcasts against A: before opset 7 an attribute gave the axis where it starts.
Value* broadcastOperand(const NodeImport& node, Value* a, Value* b);
// A rank-1 operand lined up with dimension `axis` of a tensor of this rank.
Value* alongAxis(const NodeImport& node, Value* vector, int64_t axis, int64_t rank);

}  // namespace camshaft::onnx::importer
