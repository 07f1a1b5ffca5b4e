#include "onnx/ops/elementwise.h"

namespace camshaft::onnx::importer {

void importUnary(NodeImport& node, ScalarOp op) {
  Value* x = node.input(0);
  const bool isTrivial = infoOf(op).domain == ScalarDomain::kFloat && !isFloat(x->dataType());
  node.setOutput(isTrivial ? x : node.unary(op, x));  // rounding an integer changes nothing
}

Value* broadcastOperand(const NodeImport& node, Value* a, Value* b) {
  if (node.opset() >= 7 || !node.flag("broadcast") || b->rank() == 0 || !node.has("axis")) return b;
  const int64_t start = node.axisAttribute("axis", 0, a->rank());
  if (start + b->rank() > a->rank())
    node.invalid("its second operand does not fit at axis ", start);
  Shape shape = b->shape();
  shape.insert(shape.end(), static_cast<size_t>(a->rank() - start - b->rank()), Dim(1));
  return node.reshape(b, std::move(shape));
}

void importBinary(NodeImport& node, ScalarOp op) {
  Value* a = node.input(0);
  node.setOutput(node.binary(op, a, broadcastOperand(node, a, node.input(1))));
}

Value* alongAxis(const NodeImport& node, Value* vector, int64_t axis, int64_t rank) {
  if (vector->rank() != 1 || axis == rank - 1) return vector;
  if (axis >= rank)
    node.invalid("'", vector->name, "' lies along axis ", axis, " of a tensor of rank ", rank);
  Shape shape(static_cast<size_t>(rank - axis), Dim(1));
  shape[0] = vector->shape()[0];
  return node.reshape(vector, std::move(shape));
}

}  // namespace camshaft::onnx::importer
