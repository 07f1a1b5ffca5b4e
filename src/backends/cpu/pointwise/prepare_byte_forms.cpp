#include "backends/cpu/pointwise/prepare_byte_forms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/byte_quotient.h"
#include "ops/pointwise.h"

namespace camshaft::cpu::pointwise {

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

}  // namespace

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
    const float bound = static_cast<float>(std::clamp(number, -1024.0, 1024.0));
    if (bound != std::rint(bound)) return std::nullopt;
    if (op == ScalarOp::kMin) result.high = std::min(result.high, bound);
    if (op == ScalarOp::kMax) result.low = std::max(result.low, bound);
    at = *value;
  }
  if (result.low > result.high) return std::nullopt;
  if (expr.code()[at].op == ScalarOp::kAdd) {
    const std::optional<int> value = besideConstant(expr, at, number);
    if (!value || std::abs(number) > 255 || number != std::rint(number)) return std::nullopt;
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

int peelClamp(const Expr& expr, int at, Clamp& clamp) {
  const ScalarInstruction& i = expr.code()[at];
  double number = 0;
  std::optional<int> value;
  if (i.op == ScalarOp::kRelu)
    value = i.a;
  else if (i.op == ScalarOp::kMin || i.op == ScalarOp::kMax)
    value = besideConstant(expr, at, number);
  if (!value) return at;
  const int inner = peelClamp(expr, *value, clamp);
  const float bound = static_cast<float>(number);
  if (i.op == ScalarOp::kMin) {
    clamp = {std::min(clamp.low, bound), std::min(clamp.high, bound)};
  } else {
    clamp = {std::max(clamp.low, bound), std::max(clamp.high, bound)};
  }
  return inner;
}

void applyClamp(const Clamp& clamp, Requantize& q) {
  q.low = std::clamp(std::nearbyint(clamp.low / q.divisor) + q.zero, q.low, q.high);
  q.high = std::clamp(std::nearbyint(clamp.high / q.divisor) + q.zero, q.low, q.high);
}

ByteQuotient quotientOf(const Requantize& q, DataType type) {
  ByteQuotient quotient{.divisor = q.divisor};
  const std::optional<Reciprocal> r =
      reciprocalFor(q.divisor, {.type = type, .zero = static_cast<int>(q.zero)});
  int exponent = 0;
  constexpr int kMostBinary = 64;
  if (r) {
    quotient.high = r->high;
    quotient.low = r->low;
  } else if (std::frexp(q.divisor, &exponent) == 0.5f && std::abs(exponent) < kMostBinary) {
    // Exact, with a second part that is lost in the first, and that leaves infinities as they are.
    quotient.high = 1 / q.divisor;
    quotient.low = std::ldexp(quotient.high, -40);
  }
  return quotient;
}

ByteBounds boundsOf(const Requantize& q, DataType type) {
  const int32_t flip = type == DataType::kI8 ? 128 : 0;
  const auto asU8 = [&](float byte) { return static_cast<int32_t>(byte) + flip; };
  return {asU8(q.zero), asU8(q.low), asU8(q.high), flip};
}

Dequantize DequantizedInput::flipped() const {
  const int32_t flip = type == DataType::kI8 ? 128 : 0;
  return {zero + static_cast<float>(flip), scale, flip};
}

std::optional<DequantizedInput> matchDequantized(const Expr& expr, int at) {
  DequantizedInput result;
  double number = 0;
  if (expr.code()[at].type != DataType::kF32) return std::nullopt;
  if (expr.code()[at].op == ScalarOp::kMul) {
    const std::optional<int> value = besideConstant(expr, at, number);
    if (!value) return std::nullopt;
    result.scale = static_cast<float>(number);
    at = *value;
  }
  const ScalarInstruction& shifted = expr.code()[at];
  if (shifted.op == ScalarOp::kSub || shifted.op == ScalarOp::kAdd) {
    const std::optional<double> zero = constantAt(expr, shifted.b);
    // Zero points are added to 128, which must be exact.
    if (!zero || std::abs(*zero) > 1024 || *zero != std::rint(*zero)) return std::nullopt;
    result.zero = static_cast<float>(shifted.op == ScalarOp::kSub ? *zero : -*zero);
    at = shifted.a;
  }
  const ScalarInstruction* from = &expr.code()[at];
  if (from->op == ScalarOp::kCast && isByte(expr.code()[from->a].type))
    from = &expr.code()[from->a];
  if (from->op != ScalarOp::kInput) return std::nullopt;
  result.input = from->a;
  result.type = from->type;
  return isByte(result.type) || result.type == DataType::kF32 ? std::optional(result)
                                                              : std::nullopt;
}

std::optional<DequantizedPair> matchPair(const Expr& expr, int at) {
  const ScalarInstruction& i = expr.code()[at];
  if (i.op != ScalarOp::kAdd && i.op != ScalarOp::kSub && i.op != ScalarOp::kMul)
    return std::nullopt;
  std::optional<DequantizedInput> a = matchDequantized(expr, i.a), b = matchDequantized(expr, i.b);
  if (!a || !b || a->input + b->input != 1) return std::nullopt;
  if (i.op == ScalarOp::kSub) b->scale = -b->scale;
  if (a->input == 1) std::swap(a, b);
  return DequantizedPair{*a, *b, i.op == ScalarOp::kMul};
}

std::vector<uint8_t> tableOf(const Expr& expr) {
  uint8_t indices[256];
  for (int i = 0; i < 256; ++i) indices[i] = static_cast<uint8_t>(i);
  std::vector<uint8_t> table(256);
  const std::vector<int64_t> dims{256};
  const ConstTensorView in{expr.inputType(0), dims, indices};
  evaluateExpr(expr, {&in, 1}, TensorView{expr.resultType(), dims, table.data()});
  return table;
}

}  // namespace camshaft::cpu::pointwise
