// Losses, which evaluation graphs keep.
#include "onnx/ops/reduce.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/softmax.h"

namespace camshaft::onnx::importer {

namespace {

// Loss per label: -logProbability[label] * weight[label], 0 where the label is to be ignored.
void importLikelihood(NodeImport& node, Value* logs, Value* labels, Value* weights) {
  const DataType type = logs->dataType();
  if (labels->rank() < 1 || labels->rank() + 1 != logs->rank())
    node.invalid("its labels have rank ", labels->rank(), " and its scores rank ", logs->rank());
  Shape perLabel = logs->shape();
  perLabel.erase(perLabel.begin() + 1);
  requireShape(node, labels, "labels", perLabel);
  requireShape(node, weights, "weights", {logs->shape()[1]});
  labels = node.cast(labels, DataType::kI64);
  Shape column = labels->shape();
  column.insert(column.begin() + 1, Dim(1));
  Value* isKept = nullptr;
  if (node.has("ignore_index")) {
    const double ignored = static_cast<double>(node.integer("ignore_index"));
    isKept = node.cast(node.binary(ScalarOp::kNotEqual, labels, ignored), DataType::kI64);
    labels = node.binary(ScalarOp::kMul, labels, isKept);  // an ignored label may be no valid index
  }
  GatherElementsAttrs pick;
  pick.axis = 1;
  Value* chosen = node.add(&ops::GatherElements, {logs, node.reshape(labels, column)}, pick);
  Value* loss = node.unary(ScalarOp::kNeg, node.reshape(chosen, labels->shape()));
  Value* weight = weights ? node.add(&ops::Gather, {weights, labels}, GatherAttrs{}) : nullptr;
  if (isKept) {
    Value* kept = node.cast(isKept, type);
    weight = weight ? node.binary(ScalarOp::kMul, weight, kept) : kept;
  }
  if (weight) loss = node.binary(ScalarOp::kMul, loss, weight);

  const int reduction = node.choice("reduction", "mean", {"none", "sum", "mean"});
  const std::vector<int64_t> all = axisRange(0, loss->rank());
  if (reduction == 0) return node.setOutput(0, loss);
  if (reduction == 1) return node.setOutput(0, reduce(node, ReduceKind::kSum, loss, all, false));
  if (!weight) return node.setOutput(0, reduce(node, ReduceKind::kMean, loss, all, false));
  node.setOutput(0, node.binary(ScalarOp::kDiv, reduce(node, ReduceKind::kSum, loss, all, false),
                                reduce(node, ReduceKind::kSum, weight, all, false)));
}

}  // namespace

void importNegativeLogLikelihoodLoss(NodeImport& node) {
  importLikelihood(node, node.input(0), node.input(1), node.optionalInput(2));
}

void importSoftmaxCrossEntropyLoss(NodeImport& node) {
  SoftmaxAttrs attrs;
  attrs.axis = 1;
  attrs.kind = SoftmaxKind::kLogSoftmax;
  Value* logs = node.add(&ops::Softmax, {node.input(0)}, attrs);
  importLikelihood(node, logs, node.input(1), node.optionalInput(2));
  node.setOutput(1, logs);
}

}  // namespace camshaft::onnx::importer
