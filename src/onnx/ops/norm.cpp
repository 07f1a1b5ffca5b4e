// Normalisations over channels, groups and trailing dimensions.
#include "ops/norm.h"

#include "onnx/ops/reduce.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

namespace {

// Parameters of one element per group, repeated for the group's channels.
Value* perChannel(const NodeImport& node, Value* perGroup, int64_t groups, const Dim& channels) {
  requireShape(node, perGroup, "scale or bias", {groups});
  Value* column = node.reshape(perGroup, {groups, 1});
  return node.reshape(node.expand(column, {groups, floorDiv(channels, groups)}), {channels});
}

}  // namespace

void importInstanceNormalization(NodeImport& node) {
  GroupNormAttrs attrs;
  attrs.groups = 0;
  attrs.epsilon = node.number("epsilon", 1e-5);
  node.setOutput(node.add(&ops::GroupNorm, {node.input(0), node.input(1), node.input(2)}, attrs));
}

void importGroupNormalization(NodeImport& node) {
  Value *x = node.input(0, Ranks::from(2)), *scale = node.input(1), *bias = node.input(2);
  GroupNormAttrs attrs;
  attrs.groups = node.integer("num_groups");
  attrs.epsilon = node.number("epsilon", 1e-5);
  if (attrs.groups <= 0) node.invalid("its num_groups must be positive");
  if (node.opset() < 21) {
    scale = perChannel(node, scale, attrs.groups, x->shape()[1]);
    bias = perChannel(node, bias, attrs.groups, x->shape()[1]);
  }
  node.setOutput(node.add(&ops::GroupNorm, {x, scale, bias}, attrs));
}

namespace {

void setStatistics(NodeImport& node, Value* x, int64_t axis, double epsilon) {
  if (!node.wants(1) && !node.wants(2)) return;
  const DataType stash = node.dataType("stash_type", DataType::kF32);
  x = node.cast(x, stash);
  Value* mean = reduce(node, ReduceKind::kMean, x, axisRange(axis, x->rank()));
  Value* centred = node.binary(ScalarOp::kSub, x, mean);
  Value* variance = reduce(node, ReduceKind::kMean, node.binary(ScalarOp::kMul, centred, centred),
                           axisRange(axis, x->rank()));
  node.setOutput(1, mean);
  node.setOutput(2, node.unary(ScalarOp::kRsqrt, node.binary(ScalarOp::kAdd, variance, epsilon)));
}

}  // namespace

void importLayerNormalization(NodeImport& node) {
  Value* x = node.input(0);
  LayerNormAttrs attrs;
  attrs.axis = node.axisAttribute("axis", -1, x->rank());
  attrs.epsilon = node.number("epsilon", 1e-5);
  std::vector<Value*> inputs{x, node.input(1)};
  if (node.hasInput(2)) inputs.push_back(node.input(2));
  node.setOutput(0, node.add(&ops::LayerNorm, std::move(inputs), attrs));
  setStatistics(node, x, attrs.axis, attrs.epsilon);
}

void importRMSNormalization(NodeImport& node) {
  Value* x = node.input(0);
  LayerNormAttrs attrs;
  attrs.axis = node.axisAttribute("axis", -1, x->rank());
  attrs.epsilon = node.number("epsilon", 1e-5);
  attrs.rms = true;
  Value* normalized =
      node.add(&ops::LayerNorm, {x, node.cast(node.input(1), x->dataType())}, attrs);
  node.setOutput(node.cast(normalized, node.input(1)->dataType()));
}

void importLRN(NodeImport& node) {
  LrnAttrs attrs;
  attrs.size = node.integer("size");
  attrs.alpha = node.number("alpha", 1e-4);
  attrs.beta = node.number("beta", 0.75);
  attrs.bias = node.number("bias", 1);
  node.setOutput(node.add(&ops::Lrn, {node.input(0)}, attrs));
}

void importLpNormalization(NodeImport& node) {
  Value* x = node.input(0);
  const int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.invalid("its p must be 1 or 2 and is ", p);
  Value* norm = reduce(node, p == 1 ? ReduceKind::kL1 : ReduceKind::kL2, x,
                       {node.axisAttribute("axis", -1, x->rank())});
  // A row of zeros has norm 0 and stays zero.
  Value* isZero = node.cast(node.binary(ScalarOp::kEqual, norm, 0.0), x->dataType());
  node.setOutput(node.binary(ScalarOp::kDiv, x, node.binary(ScalarOp::kAdd, norm, isZero)));
}

// (x - mean) / (sqrt(mean(x*x) - mean*mean) + 1e-9)
void importMeanVarianceNormalization(NodeImport& node) {
  Value* x = node.input(0);
  const std::vector<int64_t> axes = node.axes(node.integers("axes", {0, 2, 3}), x->rank());
  Value* mean = reduce(node, ReduceKind::kMean, x, axes);
  Value* meanOfSquares = reduce(node, ReduceKind::kMean, node.binary(ScalarOp::kMul, x, x), axes);
  Value* variance =
      node.binary(ScalarOp::kSub, meanOfSquares, node.binary(ScalarOp::kMul, mean, mean));
  Value* deviation = node.binary(ScalarOp::kAdd, node.unary(ScalarOp::kSqrt, variance), 1e-9);
  node.setOutput(node.binary(ScalarOp::kDiv, node.binary(ScalarOp::kSub, x, mean), deviation));
}

}  // namespace camshaft::onnx::importer
