// Windowed and global pooling.
#include "onnx/ops/pool.h"

#include "onnx/ops/reduce.h"
#include "onnx/ops/window.h"

namespace camshaft::onnx::importer {

PoolAttrs poolOf(const NodeImport& node, PoolKind kind, const Value* x) {
  Window window = windowOf(node, {});
  if (window.rank() + 2 != x->rank())
    node.invalid("its kernel has ", window.rank(), " dimensions and its input has rank ",
                 x->rank());
  padSame(node, window, x->shape());
  PoolAttrs attrs;
  attrs.kind = kind;
  attrs.kernel = window.kernel;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.padsBegin = window.padsBegin;
  attrs.padsEnd = window.padsEnd;
  attrs.ceilMode = window.ceilMode;
  attrs.countIncludePad = kind == PoolKind::kAverage && node.flag("count_include_pad");
  return attrs;
}

void importMaxPool(NodeImport& node) {
  PoolAttrs attrs = poolOf(node, PoolKind::kMax, node.input(0));
  attrs.columnMajorIndices = node.integer("storage_order", 0) == 1;
  const Node* pool =
      node.addNode(&ops::Pool, {node.input(0)}, std::move(attrs), node.wants(1) ? 2 : 1);
  node.setOutput(0, pool->output(0));
  if (node.wants(1)) node.setOutput(1, pool->output(1));
}

void importAveragePool(NodeImport& node) {
  PoolAttrs attrs = poolOf(node, PoolKind::kAverage, node.input(0));
  node.setOutput(node.addNode(&ops::Pool, {node.input(0)}, std::move(attrs), 1)->output());
}

void importLpPool(NodeImport& node) {
  PoolAttrs attrs = poolOf(node, PoolKind::kLp, node.input(0));
  attrs.p = node.opset() < 2 ? static_cast<int64_t>(node.number("p", 2)) : node.integer("p", 2);
  node.setOutput(node.addNode(&ops::Pool, {node.input(0)}, std::move(attrs), 1)->output());
}

namespace {

const Ranks kPictures = Ranks::from(3);  // batch and channels before one dimension or more

Value* overSpace(const NodeImport& node, ReduceKind kind, Value* x) {
  return reduce(node, kind, x, axisRange(2, x->rank()));
}

}  // namespace

void importGlobalAveragePool(NodeImport& node) {
  node.setOutput(overSpace(node, ReduceKind::kMean, node.input(0, kPictures)));
}
void importGlobalMaxPool(NodeImport& node) {
  node.setOutput(overSpace(node, ReduceKind::kMax, node.input(0, kPictures)));
}

void importGlobalLpPool(NodeImport& node) {
  Value* x = node.input(0, kPictures);
  const double p =
      node.opset() < 2 ? node.number("p", 2) : static_cast<double>(node.integer("p", 2));
  if (p == 1 || p == 2)
    return node.setOutput(overSpace(node, p == 1 ? ReduceKind::kL1 : ReduceKind::kL2, x));
  Value* powers = node.binary(ScalarOp::kPow, node.unary(ScalarOp::kAbs, x), p);
  node.setOutput(node.binary(ScalarOp::kPow, overSpace(node, ReduceKind::kSum, powers), 1 / p));
}

}  // namespace camshaft::onnx::importer
