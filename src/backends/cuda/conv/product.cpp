#include "backends/cuda/conv/product.h"

#include <algorithm>

#include "ops/conv.h"
#include "ops/gemm.h"
#include "ops/gemm_int8.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kBias = 2;

// x0 + bias, added as f32.
Expr biasExpr(DataType type, DataType biasType) {
  const auto wide = [](Expr& expr, int value, DataType from) {
    return from == DataType::kF32 ? value : expr.cast(value, DataType::kF32);
  };
  Expr expr;
  const int x = expr.input(0, type), bias = expr.input(1, biasType);
  const int left = wide(expr, x, type), right = wide(expr, bias, biasType);
  const int sum = expr.apply(ScalarOp::kAdd, left, right);
  if (type != DataType::kF32) expr.cast(sum, type);
  return expr;
}

// The epilogue of the product: that of the convolution on top of its bias.
std::optional<Expr> epilogueOf(const Node& conv) {
  if (conv.op == &ops::ConvInteger || !conv.hasInput(kBias))
    return conv.epilogue ? std::optional(conv.epilogue->expr) : std::nullopt;
  const Expr biased = biasExpr(conv.resultBeforeEpilogue().type, conv.inputs[kBias]->dataType());
  if (!conv.epilogue) return biased;
  std::vector<int> places(conv.epilogue->expr.inputCount());
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i) + 1;
  return conv.epilogue->expr.composed(0, biased, {0, 1}, places);
}

// A row for each place of the result.
TensorType rowsOf(const Node& conv, int64_t depth) {
  TensorType rows{conv.inputs[0]->dataType(), conv.output()->shape()};
  rows.shape.back() = depth;
  return rows;
}

}  // namespace

ConvProduct::ConvProduct(const Node& conv, const ConvMatrix& weights,
                         const std::vector<int>& zeroPoints) {
  if (conv.op == &ops::ConvInteger)
    multiplyIntegers(conv, weights, zeroPoints);
  else
    multiplyFloats(conv, weights);
  addEpilogue(conv);
}

void ConvProduct::multiplyFloats(const Node& conv, const ConvMatrix& weights) {
  Value* matrix = graph.addConstant(
      "weights", {weights.type, {conv.inputs[1]->shape()[0], weights.depth}}, weights.data);
  MatMulAttrs attrs;
  attrs.transposeB = true;
  node = graph.add(&ops::MatMul, conv.name,
                   {graph.addInput("x", rowsOf(conv, weights.depth)), matrix}, attrs);
  inputOf = {0, 1};
}

// Zero points of weights lie along M, which are the columns of the product.
void ConvProduct::multiplyIntegers(const Node& conv, const ConvMatrix& weights,
                                   const std::vector<int>& zeroPoints) {
  const TensorType matrix{weights.type, {weights.depth, conv.inputs[1]->shape()[0]}};
  std::vector<Value*> inputs = {graph.addInput("x", rowsOf(conv, weights.depth)),
                                graph.addConstant("weights", matrix, weights.data)};
  const auto zeroPoint = [&](int i) -> Value* {
    const Value* value = conv.inputs[i];
    if (!value || std::ranges::count(zeroPoints, i) == 0) return nullptr;
    TensorType type{value->dataType(), {}};
    if (!isOneNumber(*value)) type.shape = {numElements(value->shape())};
    const std::string name = str("zero", i);
    return value->isConstant() ? graph.addConstant(name, type, value->constant)
                               : graph.addInput(name, type);
  };
  for (int i = 2; i < conv.ownInputs(); ++i) inputs.push_back(zeroPoint(i));
  node = graph.add(&ops::MatMulInteger, conv.name, inputs, NoAttrs{});
  for (int i = 0; i < conv.ownInputs(); ++i) inputOf.push_back(i);
}

void ConvProduct::addEpilogue(const Node& conv) {
  const std::optional<Expr> expr = epilogueOf(conv);
  if (!expr) return;
  const int own = static_cast<int>(inputOf.size());
  node->epilogue = Epilogue{*expr, own};
  for (int i = own; i < static_cast<int>(conv.inputs.size()); ++i) {
    if (!conv.inputs[i]) continue;
    const Value& operand = *conv.inputs[i];
    const std::string name = str("operand", i);
    graph.addInputTo(node, operand.isConstant()
                               ? graph.addConstant(name, operand.type, operand.constant)
                               : graph.addInput(name, operand.type));
    inputOf.push_back(i);
  }
  graph.inferTypes(node);
}

Prepared ConvProduct::ofConv(Prepared prepared) const {
  for (StepInput& input : prepared.inputs)
    if (input.nodeInput >= 0) input.nodeInput = inputOf[input.nodeInput];
  return prepared;
}

int ConvProduct::placeOf(const Node& conv, int input) const {
  if (std::count(conv.inputs.begin(), conv.inputs.end(), conv.inputs[input]) != 1) return -1;
  const auto place = std::find(inputOf.begin(), inputOf.end(), input);
  return place == inputOf.end() ? -1 : static_cast<int>(place - inputOf.begin());
}

}  // namespace camshaft::cuda
