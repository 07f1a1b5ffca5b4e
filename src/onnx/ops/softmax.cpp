#include "onnx/ops/softmax.h"

namespace camshaft::onnx::importer {

Value* softmax(const NodeImport& node, Value* x, int64_t axis, bool flattens, SoftmaxKind kind) {
  SoftmaxAttrs attrs;
  attrs.kind = kind;
  attrs.axis = axis;
  if (!flattens || axis == x->rank() - 1) return node.add(&ops::Softmax, {x}, attrs);
  attrs.axis = 1;
  const auto middle = x->shape().begin() + axis;
  Value* flat = node.reshape(
      x, {numElements({x->shape().begin(), middle}), numElements({middle, x->shape().end()})});
  return node.reshape(node.add(&ops::Softmax, {flat}, attrs), x->shape());
}

namespace {

// Before opset 13 the dimensions from the axis on are normalised together.
void importAlong(NodeImport& node, SoftmaxKind kind) {
  Value* x = node.input(0);
  const bool flattens = node.opset() < 13;
  const int64_t axis = node.axisAttribute("axis", flattens ? 1 : -1, x->rank());
  node.setOutput(softmax(node, x, axis, flattens, kind));
}

}  // namespace

void importSoftmax(NodeImport& node) { importAlong(node, SoftmaxKind::kSoftmax); }
void importLogSoftmax(NodeImport& node) { importAlong(node, SoftmaxKind::kLogSoftmax); }
void importHardmax(NodeImport& node) { importAlong(node, SoftmaxKind::kHardmax); }

}  // namespace camshaft::onnx::importer
