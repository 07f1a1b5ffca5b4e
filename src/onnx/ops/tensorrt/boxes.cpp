#include "onnx/ops/tensorrt/boxes.h"

#include "onnx/formula.h"

namespace camshaft::onnx::importer {

Value* boxPart(const NodeImport& node, Value* boxes, int64_t begin) {
  return node.slice(boxes, boxes->rank() - 1, begin, 2);
}

Value* boxOf(const NodeImport& node, Value* first, Value* second) {
  return node.concat({first, second}, first->rank() - 1);
}

Value* orderedCorners(const NodeImport& node, Value* boxes) {
  Value *a = boxPart(node, boxes, 0), *b = boxPart(node, boxes, 2);
  return boxOf(node, node.binary(ScalarOp::kMin, a, b), node.binary(ScalarOp::kMax, a, b));
}

Value* cornersOfCentred(const NodeImport& node, Value* boxes) {
  Value* centre = boxPart(node, boxes, 0);
  Value* half = node.binary(ScalarOp::kMul, boxPart(node, boxes, 2), 0.5);
  return boxOf(node, node.binary(ScalarOp::kSub, centre, half),
               node.binary(ScalarOp::kAdd, centre, half));
}

Value* centredOfCorners(const NodeImport& node, Value* boxes) {
  Value *low = boxPart(node, boxes, 0), *high = boxPart(node, boxes, 2);
  Value* centre = node.binary(ScalarOp::kMul, node.binary(ScalarOp::kAdd, low, high), 0.5);
  return boxOf(node, centre, node.binary(ScalarOp::kSub, high, low));
}

Value* withLastPixel(const NodeImport& node, Value* boxes) {
  Value* corners = orderedCorners(node, boxes);
  return boxOf(node, boxPart(node, corners, 0),
               node.binary(ScalarOp::kAdd, boxPart(node, corners, 2), 1.0));
}

Value* swappedAxes(const NodeImport& node, Value* boxes) {
  const int64_t last = boxes->rank() - 1;
  const auto one = [&](int64_t i) { return node.slice(boxes, last, i, 1); };
  return node.concat({one(1), one(0), one(3), one(2)}, last);
}

Value* corrected(const NodeImport& node, Value* centred, Value* corrections) {
  Value *centre = boxPart(node, centred, 0), *size = boxPart(node, centred, 2);
  Value* moved = node.binary(ScalarOp::kMul, boxPart(node, corrections, 0), size);
  Value* grown = node.unary(ScalarOp::kExp, boxPart(node, corrections, 2));
  return boxOf(node, node.binary(ScalarOp::kAdd, moved, centre),
               node.binary(ScalarOp::kMul, grown, size));
}

Value* clamped(const NodeImport& node, Value* x, double low, double high) {
  Formula formula;
  const Term inside = larger(smaller(formula.input(0, x->dataType()), high), low);
  return node.pointwise({x}, formula.take(inside));
}

}  // namespace camshaft::onnx::importer
