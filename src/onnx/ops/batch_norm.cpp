#include "onnx/formula.h"
#include "onnx/ops/elementwise.h"
#include "onnx/ops/reduce.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

namespace {

// x * factor + offset with factor = scale / sqrt(variance + epsilon) and
// offset = bias - mean * factor, each [C]: what constant folding turns into two vectors.
Value* normalize(const NodeImport& node, Value* x, Value* mean, Value* variance) {
  const DataType type = x->dataType();
  requireSize(node, numElements(node.input(1)->shape()), "scales", x->shape()[1]);
  requireSize(node, numElements(node.input(2)->shape()), "biases", x->shape()[1]);
  requireSize(node, numElements(mean->shape()), "means", x->shape()[1]);
  requireSize(node, numElements(variance->shape()), "variances", x->shape()[1]);
  Formula factorFormula;
  const Term scale = factorFormula.input(0, type);
  const Term ratio =
      scale / apply(ScalarOp::kSqrt, factorFormula.input(1, type) + node.number("epsilon", 1e-5));
  Value* factor =
      node.pointwise({node.cast(node.input(1), type), variance}, factorFormula.take(ratio));
  Formula offsetFormula;
  const Term bias = offsetFormula.input(0, type);
  const Term difference = bias - offsetFormula.input(1, type) * offsetFormula.input(2, type);
  Value* offset = node.pointwise({node.cast(node.input(2), type), mean, factor},
                                 offsetFormula.take(difference));
  Value* scaled = node.binary(ScalarOp::kMul, x, alongAxis(node, factor, 1, x->rank()));
  return node.binary(ScalarOp::kAdd, scaled, alongAxis(node, offset, 1, x->rank()));
}

Value* blend(const NodeImport& node, Value* running, Value* current) {
  const double momentum = node.number("momentum", 0.9);
  Formula formula;
  const Term old = formula.input(0, running->dataType());
  const Term result =
      old * momentum +
      cast(formula.input(1, current->dataType()), running->dataType()) * (1 - momentum);
  return node.pointwise({running, current}, formula.take(result));
}

// Statistics of the batch itself; running statistics are further outputs.
void importTraining(NodeImport& node) {
  Value* x = node.input(0);
  std::vector<int64_t> axes = axisRange(0, x->rank());
  axes.erase(axes.begin() + 1);
  Value* mean = reduce(node, ReduceKind::kMean, x, axes, true);
  Value* centred = node.binary(ScalarOp::kSub, x, mean);
  Value* variance =
      reduce(node, ReduceKind::kMean, node.binary(ScalarOp::kMul, centred, centred), axes, false);
  mean = node.reshape(mean, {x->shape()[1]});
  node.setOutput(0, normalize(node, x, mean, variance));
  if (node.wants(1)) node.setOutput(1, blend(node, node.input(3), mean));
  if (node.wants(2)) node.setOutput(2, blend(node, node.input(4), variance));
}

}  // namespace

void importBatchNormalization(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(2));
  if (!node.flag("spatial", true))
    node.unsupported("statistics per activation (spatial = 0) are not supported");
  if (node.flag("training_mode")) return importTraining(node);
  if (node.wants(1))
    node.unsupported("training outputs are not supported: export the model for inference");
  node.setOutput(normalize(node, x, node.cast(node.input(3), x->dataType()),
                           node.cast(node.input(4), x->dataType())));
}

}  // namespace camshaft::onnx::importer
