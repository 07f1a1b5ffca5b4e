// Operators that make tensors from nothing but attributes and sizes.
#include <cmath>
#include <numbers>

#include "onnx/constant.h"
#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/size.h"
#include "onnx/wire/element_type.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

bool holdsStrings(const NodeImport& node) {
  const wire::Attribute* value = node.find("value");
  return node.has("value_string") || node.has("value_strings") ||
         (value && !value->tensors.empty() && value->tensors.front().dataType == kOnnxString);
}

}  // namespace

void importConstant(NodeImport& node) {
  Graph& graph = node.graph();
  if (holdsStrings(node)) return node.setOutput(0, Strings{});
  if (node.has("value")) return node.setOutput(node.tensor("value"));
  if (node.has("sparse_value")) return node.setOutput(node.sparseTensor("sparse_value"));
  if (node.has("value_float"))
    return node.setOutput(node.scalar(DataType::kF32, node.number("value_float", 0)));
  if (node.has("value_int")) {
    const int64_t value = node.integer("value_int");
    return node.setOutput(
        graph.addConstant<int64_t>(node.name(), DataType::kI64, {}, std::span(&value, 1)));
  }
  if (node.has("value_ints"))
    return node.setOutput(node.integerVector(node.integers("value_ints")));
  if (node.has("value_floats")) {
    const std::vector<double> numbers = node.numbers("value_floats");
    const std::vector<float> values(numbers.begin(), numbers.end());
    return node.setOutput(graph.addConstant<float>(node.name(), DataType::kF32,
                                                   {static_cast<int64_t>(values.size())}, values));
  }
  node.invalid("it has no value");
}

void importConstantOfShape(NodeImport& node) {
  Value* value = node.has("value") ? node.tensor("value") : node.scalar(DataType::kF32, 0);
  Value* sizes = withLength(node, node.input(0), node.declaredRank(0));
  node.setOutput(node.expand(node.reshape(value, {}), node.dims(sizes)));
}

Value* counting(const NodeImport& node, Value* start, Value* delta, Dim count) {
  RangeAttrs attrs;
  attrs.count = std::move(count);
  return node.add(&ops::Range, {start, delta}, std::move(attrs));
}

Value* counting(const NodeImport& node, DataType type, Dim count) {
  return counting(node, node.scalar(type, 0), node.scalar(type, 1), std::move(count));
}

namespace {

// ceil((limit - start) / delta), not below zero: symbolic where the operands are, else computed
// while running.
Dim rangeCount(const NodeImport& node) {
  const auto start = wholeNumbers(node, node.input(0)), limit = wholeNumbers(node, node.input(1));
  const auto delta = wholeNumbers(node, node.input(2));
  if (start && limit && delta && delta->at(0).isConstant()) {
    const int64_t step = delta->at(0).value();
    if (step == 0) node.invalid("its delta is zero");
    const Dim distance = step > 0 ? limit->at(0) - start->at(0) : start->at(0) - limit->at(0);
    return atLeast(node.inputSizes(), ceilDiv(distance, std::abs(step)), 0);
  }
  Value* distance =
      node.cast(node.binary(ScalarOp::kSub, node.input(1), node.input(0)), DataType::kF64);
  Value* steps = node.binary(ScalarOp::kDiv, distance, node.cast(node.input(2), DataType::kF64));
  Value* count = node.binary(ScalarOp::kMax, node.unary(ScalarOp::kCeil, steps), 0.0);
  return node.dims(node.reshape(node.cast(count, DataType::kI64), {1})).at(0);
}

}  // namespace

void importRange(NodeImport& node) {
  Dim count = rangeCount(node);
  node.setOutput(counting(node, node.reshape(node.input(0), {}), node.reshape(node.input(2), {}),
                          std::move(count)));
}

void importEyeLike(NodeImport& node) {
  Value* x = node.input(0, 2);
  Value* rows = node.reshape(counting(node, DataType::kI64, x->shape()[0]), {x->shape()[0], 1});
  Value* columns = counting(node, DataType::kI64, x->shape()[1]);
  Formula formula;
  const Term onDiagonal =
      formula.input(0, DataType::kI64) + static_cast<double>(node.integer("k", 0)) ==
      formula.input(1, DataType::kI64);
  const Term result = cast(onDiagonal, node.dataType("dtype", x->dataType()));
  node.setOutput(node.pointwise({rows, columns}, formula.take(result)));
}

namespace {

// a - b*cos(x) + c*cos(2x) over one period of `size` samples.
void importWindow(NodeImport& node, double a, double b, double c) {
  const Dim size = node.dims(0).at(0);
  Value* position = counting(node, DataType::kF32, size);
  Value* period = sizeTensor(node, node.flag("periodic", true) ? size : size - 1);
  Formula formula;
  const Term at = formula.input(0, DataType::kF32);
  const Term x =
      at * (2 * std::numbers::pi) / cast(formula.input(1, DataType::kI64), DataType::kF32);
  Term window = a - apply(ScalarOp::kCos, x) * b;
  if (c != 0) window = window + apply(ScalarOp::kCos, x * 2) * c;
  const Term result = cast(window, node.dataType("output_datatype", DataType::kF32));
  node.setOutput(node.pointwise({position, period}, formula.take(result)));
}

}  // namespace

void importHannWindow(NodeImport& node) { importWindow(node, 0.5, 0.5, 0); }
void importHammingWindow(NodeImport& node) { importWindow(node, 25.0 / 46, 1 - 25.0 / 46, 0); }
void importBlackmanWindow(NodeImport& node) { importWindow(node, 0.42, 0.5, 0.08); }

}  // namespace camshaft::onnx::importer
