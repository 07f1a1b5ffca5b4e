#include "backends/cpu/gemm_int8/prepare_epilogue.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/cpu/gemm/prepare_epilogue_match.h"
#include "backends/cpu/pointwise/prepare_byte_forms.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// constant * product of operands, and of the sums when `ofSums`.
struct Product {
  double constant = 1;
  std::vector<int> operands;  // inputs of the expression
  bool ofSums = false;
};
using Products = std::vector<std::optional<Product>>;

std::optional<Product> productOf(const Expr& expr, const ScalarInstruction& i,
                                 const Products& earlier) {
  if (i.type != DataType::kF32) return std::nullopt;
  if (i.op == ScalarOp::kConst) return Product{.constant = i.real};
  if (i.op == ScalarOp::kInput)
    return i.a > 0 ? std::optional(Product{.operands = {i.a}}) : std::nullopt;
  if (i.op == ScalarOp::kCast) {
    const ScalarInstruction& from = expr.code()[i.a];
    const bool ofSums = from.op == ScalarOp::kInput && from.a == 0 && from.type == DataType::kI32;
    return ofSums ? std::optional(Product{.ofSums = true}) : std::nullopt;
  }
  if (i.op != ScalarOp::kMul || !earlier[i.a] || !earlier[i.b]) return std::nullopt;
  const Product &a = *earlier[i.a], &b = *earlier[i.b];
  if (a.ofSums && b.ofSums) return std::nullopt;
  Product result{a.constant * b.constant, a.operands, a.ofSums || b.ofSums};
  result.operands.insert(result.operands.end(), b.operands.begin(), b.operands.end());
  return result;
}

// One f32 number, or one per column of the result.
bool isScale(const Value& value, const Shape& result) {
  if (value.dataType() != DataType::kF32) return false;
  const Shape& shape = value.shape();
  const auto isOne = [](const Dim& dim) { return dim.isConstant(1); };
  if (std::all_of(shape.begin(), shape.end(), isOne)) return true;
  return std::all_of(shape.begin(), shape.end() - 1, isOne) && shape.back() == result.back();
}

// The rest of the epilogue, whose input 0 are the scaled sums, as fuseEpilogue() sees it: a node
// of f32. Its inputs are numbered as the node's afterwards.
FusedEpilogue fuseRest(const Node& node, const Remainder& rest) {
  Value result;
  result.type = {DataType::kF32, node.output()->shape()};
  Node standIn;
  standIn.op = node.op;
  standIn.outputs = {&result};
  const int own = node.ownInputs();
  standIn.inputs.assign(node.inputs.begin(), node.inputs.begin() + own);
  if (!rest.program.empty()) standIn.epilogue = camshaft::Epilogue{rest.program, own};
  std::vector<int> original;
  for (int i = 0; i < own; ++i) original.push_back(i);
  for (int operand : rest.operands) {
    original.push_back(own + operand - 1);
    standIn.inputs.push_back(node.inputs[original.back()]);
  }
  FusedEpilogue fused = fuseEpilogue(standIn);
  const auto restore = [&](int& input) { input = input < 0 ? -1 : original[input]; };
  restore(fused.biasInput);
  restore(fused.residualInput);
  for (int& input : fused.programInputs) restore(input);
  return fused;
}

}  // namespace

Expr upTo(const Expr& expr, int at) {
  Expr result;
  std::vector<int> copies;
  for (int index = 0; index <= at; ++index) {
    const ScalarInstruction& i = expr.code()[index];
    const auto copy = [&](int operand) { return operand < 0 ? -1 : copies[operand]; };
    switch (i.op) {
      case ScalarOp::kInput:
        copies.push_back(result.input(i.a, i.type));
        break;
      case ScalarOp::kConst:
        copies.push_back(isFloat(i.type) ? result.constant(i.real, i.type)
                                         : result.constantInteger(i.integer, i.type));
        break;
      case ScalarOp::kCast:
        copies.push_back(result.cast(copy(i.a), i.type));
        break;
      case ScalarOp::kWhere:
        copies.push_back(result.where(copy(i.a), copy(i.b), copy(i.c)));
        break;
      default:
        copies.push_back(result.apply(i.op, copy(i.a), copy(i.b)));
    }
  }
  return result;
}

// Scales as far as they reach, and what is left after them.
bool takeScales(const Node& node, const Expr& expr, ScaledEpilogue& scaled) {
  Products products;
  for (const ScalarInstruction& i : expr.code()) products.push_back(productOf(expr, i, products));
  for (int at = static_cast<int>(products.size()) - 1; at >= 0; --at) {
    if (!products[at] || !products[at]->ofSums) continue;
    std::vector<int> inputs;
    for (int operand : products[at]->operands) inputs.push_back(node.ownInputs() + operand - 1);
    const bool areScales = std::all_of(inputs.begin(), inputs.end(), [&](int input) {
      return isScale(*node.inputs[input], node.output()->shape());
    });
    const std::optional<Remainder> rest = areScales ? remainderAfter(expr, at) : std::nullopt;
    if (!rest) continue;
    scaled.fused = fuseRest(node, *rest);
    scaled.factor = static_cast<float>(products[at]->constant) * scaled.fused.scale;
    scaled.fused.scale = 1;
    scaled.scaleInputs = std::move(inputs);
    scaled.refusal = scaled.fused.refusal;
    return true;
  }
  return false;
}

ScaledEpilogue scaledEpilogue(const Node& node) {
  ScaledEpilogue scaled;
  if (!node.epilogue) return scaled;
  if (std::optional<ScaledEpilogue> bytes = byteEpilogue(node)) return std::move(*bytes);
  scaled.type = node.output()->dataType();
  Expr expr = node.epilogue->expr;
  if (scaled.givesBytes()) {
    const std::optional<int> value = pointwise::matchRequantize(expr, scaled.requantize);
    if (!value) {
      scaled.refusal = "its epilogue gives bytes in another way than by rounding and clamping";
      return scaled;
    }
    expr = upTo(expr, *value);
  } else if (scaled.type != DataType::kF32) {
    scaled.refusal = "its epilogue gives neither f32 nor bytes";
    return scaled;
  }
  if (!takeScales(node, expr, scaled))
    scaled.refusal = "its epilogue does not begin with the sums as f32";
  return scaled;
}

void writeScaledEpilogue(const ScaledEpilogue& scaled, Prepared& prepared, ByteWriter& writer) {
  writer.write(static_cast<int32_t>(scaled.type));
  writer.write(scaled.factor);
  writer.write(scaled.requantize);
  ByteForm bytes = scaled.bytes;
  const auto add = [&](StepInput input) {
    prepared.inputs.push_back(std::move(input));
    return static_cast<int32_t>(prepared.inputs.size()) - 1;
  };
  if (scaled.bytesResidual >= 0)
    bytes.residualInput = add(StepInput::fromNode(scaled.bytesResidual));
  if (!scaled.table.empty()) {
    const auto table = std::as_bytes(std::span(scaled.table));
    bytes.tableInput =
        add(StepInput::fromBytes({DataType::kU8, {256}}, {table.begin(), table.end()}));
  }
  writer.write(bytes);
  writer.write(static_cast<int32_t>(prepared.inputs.size()));
  writer.write(static_cast<int32_t>(scaled.scaleInputs.size()));
  for (int input : scaled.scaleInputs) prepared.inputs.push_back(StepInput::fromNode(input));
  writeEpilogue(scaled.fused, prepared, writer);
}

}  // namespace camshaft::cpu::gemm_int8
