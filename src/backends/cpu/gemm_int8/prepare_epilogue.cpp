#include "backends/cpu/gemm_int8/prepare_epilogue.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/cpu/gemm/prepare_epilogue_match.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

std::optional<double> constantAt(const Expr& expr, int at) {
  const ScalarInstruction& i = expr.code()[at];
  return i.op == ScalarOp::kConst && i.type == DataType::kF32 ? std::optional(i.real)
                                                              : std::nullopt;
}

// The operand that is not a constant of add, mul, min or max with one; then `number` is that.
std::optional<int> besideConstant(const Expr& expr, int at, double& number) {
  const ScalarInstruction& i = expr.code()[at];
  for (const auto& [value, other] : {std::pair{i.a, i.b}, std::pair{i.b, i.a}}) {
    if (const std::optional<double> constant = constantAt(expr, other)) {
      number = *constant;
      return value;
    }
  }
  return std::nullopt;
}

// Takes cast(clamp(round(t / divisor) + zero)) apart and returns t; none when it is not that.
std::optional<int> matchRequantize(const Expr& expr, Requantize& result) {
  const ScalarInstruction& last = expr.code().back();
  if (last.op != ScalarOp::kCast || expr.code()[last.a].type != DataType::kF32) return std::nullopt;
  const bool isSigned = last.type == DataType::kI8;
  result.low = isSigned ? -128 : 0;
  result.high = isSigned ? 127 : 255;
  int at = last.a;
  double number = 0;
  while (expr.code()[at].op == ScalarOp::kMin || expr.code()[at].op == ScalarOp::kMax ||
         expr.code()[at].op == ScalarOp::kRelu) {
    const ScalarOp op = expr.code()[at].op;
    if (op == ScalarOp::kRelu) {
      result.low = std::max(result.low, 0.0f);
      at = expr.code()[at].a;
      continue;
    }
    const std::optional<int> value = besideConstant(expr, at, number);
    if (!value) return std::nullopt;
    const float bound = static_cast<float>(number);
    if (op == ScalarOp::kMin) result.high = std::min(result.high, bound);
    if (op == ScalarOp::kMax) result.low = std::max(result.low, bound);
    at = *value;
  }
  if (result.low > result.high) return std::nullopt;
  if (expr.code()[at].op == ScalarOp::kAdd) {
    const std::optional<int> value = besideConstant(expr, at, number);
    if (!value) return std::nullopt;
    result.zero = static_cast<float>(number);
    at = *value;
  }
  if (expr.code()[at].op != ScalarOp::kRound) return std::nullopt;
  at = expr.code()[at].a;
  const ScalarInstruction& i = expr.code()[at];
  if (i.op == ScalarOp::kDiv) {
    const std::optional<double> divisor = constantAt(expr, i.b);
    if (!divisor || *divisor == 0) return at;
    result.divisor = static_cast<float>(*divisor);
    return i.a;
  }
  // Divisions by powers of two have become products.
  int exponent = 0;
  if (i.op == ScalarOp::kMul) {
    const std::optional<int> value = besideConstant(expr, at, number);
    if (!value || std::frexp(number, &exponent) != 0.5) return at;
    result.divisor = static_cast<float>(1 / number);
    return value;
  }
  return at;
}

// The expression whose result is instruction `at`.
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

}  // namespace

ScaledEpilogue scaledEpilogue(const Node& node) {
  ScaledEpilogue scaled;
  if (!node.epilogue) return scaled;
  scaled.type = node.output()->dataType();
  Expr expr = node.epilogue->expr;
  if (scaled.givesBytes()) {
    const std::optional<int> value = matchRequantize(expr, scaled.requantize);
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
  writer.write(static_cast<int32_t>(prepared.inputs.size()));
  writer.write(static_cast<int32_t>(scaled.scaleInputs.size()));
  for (int input : scaled.scaleInputs) prepared.inputs.push_back(StepInput::fromNode(input));
  writeEpilogue(scaled.fused, prepared, writer);
}

}  // namespace camshaft::cpu::gemm_int8
