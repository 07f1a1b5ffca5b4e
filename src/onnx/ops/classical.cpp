// ai.onnx.ml: features scaled, replaced, looked up and weighted.
#include <cmath>

#include "onnx/formula.h"
#include "onnx/ops/reduce.h"
#include "onnx/size_rules.h"
#include "ops/gemm.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

Value* floatVector(const NodeImport& node, const std::vector<double>& values) {
  const std::vector<float> narrow(values.begin(), values.end());
  return node.graph().addConstant<float>(node.graph().uniqueName(node.name() + ".values"),
                                         DataType::kF32, {static_cast<int64_t>(values.size())},
                                         narrow);
}

// One number for all of them, or one for each feature of x.
Value* perFeature(const NodeImport& node, std::string_view what, const Value* x,
                  const std::vector<double>& values) {
  if (values.size() == 1) return node.scalar(DataType::kF32, values[0]);
  Value* vector = floatVector(node, values);
  requireBroadcastsTo(node, vector, what, x->shape());
  return vector;
}

Value* asFloats(const NodeImport& node, Ranks ranks) {
  return node.cast(node.input(0, ranks), DataType::kF32);
}

}  // namespace

void importArrayFeatureExtractor(NodeImport& node) {
  Value *x = node.input(0, Ranks::from(1)), *indices = node.input(1);
  GatherAttrs last;
  last.axis = x->rank() - 1;
  const Dim count = numElements(indices->shape());
  Value* y = node.add(&ops::Gather, {x, node.reshape(indices, {count})}, last);
  node.setOutput(x->rank() == 1 ? node.reshape(y, {1, count}) : y);
}

void importBinarizer(NodeImport& node) {
  Value* x = node.input(0);
  Formula formula;
  const Term result =
      cast(formula.input(0, x->dataType()) > node.number("threshold", 0), x->dataType());
  node.setOutput(node.pointwise({x}, formula.take(result)));
}

void importScaler(NodeImport& node) {
  Value* x = asFloats(node, Ranks::from(0));
  if (const auto offset = node.numbers("offset"); !offset.empty())
    x = node.binary(ScalarOp::kSub, x, perFeature(node, "offset", x, offset));
  if (const auto scale = node.numbers("scale"); !scale.empty())
    x = node.binary(ScalarOp::kMul, x, perFeature(node, "scale", x, scale));
  node.setOutput(x);
}

void importNormalizer(NodeImport& node) {
  Value* x = asFloats(node, Ranks::from(1));
  static constexpr ReduceKind kKinds[] = {ReduceKind::kMax, ReduceKind::kL1, ReduceKind::kL2};
  const int norm = node.choice("norm", "max", {"max", "l1", "l2"});
  Value* size = reduce(node, kKinds[norm], x, {x->rank() - 1});
  Formula formula;
  const Term value = formula.input(0, DataType::kF32), divisor = formula.input(1, DataType::kF32);
  const Term result = where(divisor == 0, value, value / divisor);
  node.setOutput(node.pointwise({x, size}, formula.take(result)));
}

void importImputer(NodeImport& node) {
  Value* x = node.input(0);
  const DataType type = x->dataType();
  std::vector<double> values = node.numbers("imputed_value_floats");
  if (!isFloat(type))
    for (const int64_t value : node.integers("imputed_value_int64s"))
      values.push_back(static_cast<double>(value));
  if (values.empty()) node.invalid("it lacks its values to impute");
  const double replaced = isFloat(type)
                              ? node.number("replaced_value_float", 0)
                              : static_cast<double>(node.integer("replaced_value_int64", 0));
  Formula formula;
  const Term value = formula.input(0, type);
  const Term isReplaced = std::isnan(replaced) ? value != value : value == replaced;
  const Term result = where(isReplaced, cast(formula.input(1, DataType::kF32), type), value);
  node.setOutput(
      node.pointwise({x, perFeature(node, "imputed values", x, values)}, formula.take(result)));
}

void importFeatureVectorizer(NodeImport& node) {
  std::vector<Value*> parts;
  for (int i = 0; i < node.inputCount(); ++i) {
    Value* x = node.input(i, {1, 2});
    if (x->rank() == 1) x = node.reshape(x, {1, x->shape()[0]});
    parts.push_back(node.cast(x, DataType::kF32));
  }
  ConcatAttrs side;
  side.axis = 1;
  node.setOutput(node.add(&ops::Concat, std::move(parts), side));
}

void importLinearRegressor(NodeImport& node) {
  Value* x = asFloats(node, 2);
  if (node.choice("post_transform", "none",
                  {"none", "softmax", "logistic", "softmax_zero", "probit"}))
    node.unsupported("its post_transform '", node.text("post_transform", ""),
                     "' is not supported: only NONE is");
  const int64_t targets = node.integer("targets", 1);
  Value* weights = floatVector(node, node.numbers("coefficients"));
  const int64_t count = weights->shape()[0].value();
  if (targets < 1 || count % targets != 0)
    node.invalid("its ", count, " coefficients do not fit ", targets, " targets");
  const int64_t features = count / targets;
  MatMulAttrs attrs;
  attrs.transposeB = true;
  Value* y = node.add(&ops::MatMul, {x, node.reshape(weights, {targets, features})}, attrs);
  if (const auto intercepts = node.numbers("intercepts"); !intercepts.empty())
    y = node.binary(ScalarOp::kAdd, y, perFeature(node, "intercepts", y, intercepts));
  node.setOutput(y);
}

// Keys and values are compared one by one: meant for tables of some hundred entries.
void importLabelEncoder(NodeImport& node) {
  Value* x = node.input(0);
  if (node.has("values_strings"))
    return node.setOutput(0, Strings{std::string(node.wireNode().inputs[0])});
  if (node.has("keys_strings"))
    node.unsupported("string tensors are not supported: encode labels outside the model");
  const auto table = [&](const std::string& what) {
    if (node.has(what + "_tensor")) return node.tensor(what + "_tensor");
    if (node.has(what + "_int64s")) return node.integerVector(node.integers(what + "_int64s"));
    return floatVector(node, node.numbers(what + "_floats"));
  };
  Value *keys = node.cast(table("keys"), x->dataType()), *values = table("values");
  Value* missing =
      node.has("default_tensor") ? node.tensor("default_tensor")
      : isFloat(values->dataType())
          ? node.scalar(values->dataType(), node.number("default_float", -0.0))
          : node.scalar(values->dataType(), static_cast<double>(node.integer("default_int64", -1)));
  Shape column = x->shape();
  column.push_back(1);
  Formula formula;
  const Term value = formula.input(0, x->dataType()), key = formula.input(1, x->dataType());
  const Term isMatch = cast(value == key || (value != value && key != key), DataType::kI32);
  Value* matches = node.pointwise({node.reshape(x, column), keys}, formula.take(isMatch));
  ArgReduceAttrs lastMatch;
  lastMatch.axis = x->rank();
  lastMatch.keepDims = false;
  lastMatch.selectLast = true;
  Value* at = node.add(&ops::ArgReduce, {matches}, lastMatch);
  Value* found = reduce(node, ReduceKind::kMax, matches, {x->rank()}, false);
  Formula pick;
  const Term picked = where(pick.input(0, DataType::kI32) > 0, pick.input(1, values->dataType()),
                            pick.input(2, values->dataType()));
  node.setOutput(node.pointwise(
      {found, node.add(&ops::Gather, {values, at}, GatherAttrs{}), node.reshape(missing, {})},
      pick.take(picked)));
}

}  // namespace camshaft::onnx::importer
