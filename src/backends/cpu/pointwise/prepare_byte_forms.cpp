#include "backends/cpu/pointwise/prepare_byte_forms.h"

#include <algorithm>
#include <cmath>

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

bool isNumber(const Bilinear& form) {
  return form.product == 0 && form.first == 0 && form.second == 0;
}

std::optional<Bilinear> multiplied(const Bilinear& a, const Bilinear& b) {
  // Squares and third powers are none.
  if ((a.product != 0 && !isNumber(b)) || (b.product != 0 && !isNumber(a)) ||
      a.first * b.first != 0 || a.second * b.second != 0)
    return std::nullopt;
  return Bilinear{
      a.product * b.constant + b.product * a.constant + a.first * b.second + a.second * b.first,
      a.first * b.constant + b.first * a.constant, a.second * b.constant + b.second * a.constant,
      a.constant * b.constant};
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

std::optional<Bilinear> matchBilinear(const Expr& expr, int at) {
  const ScalarInstruction& i = expr.code()[at];
  if (i.type != DataType::kF32) return std::nullopt;
  if (i.op == ScalarOp::kConst) return Bilinear{.constant = i.real};
  const bool isBytes = i.op == ScalarOp::kCast && isByte(expr.code()[i.a].type);
  const ScalarInstruction& from = isBytes ? expr.code()[i.a] : i;
  if (from.op == ScalarOp::kInput) {
    if (from.a > 1) return std::nullopt;
    return from.a == 0 ? Bilinear{.first = 1} : Bilinear{.second = 1};
  }
  const bool isSum = i.op == ScalarOp::kAdd || i.op == ScalarOp::kSub;
  if (!isSum && i.op != ScalarOp::kMul) return std::nullopt;
  const std::optional<Bilinear> a = matchBilinear(expr, i.a), b = matchBilinear(expr, i.b);
  if (!a || !b) return std::nullopt;
  if (!isSum) return multiplied(*a, *b);
  const double sign = i.op == ScalarOp::kAdd ? 1 : -1;
  return Bilinear{a->product + sign * b->product, a->first + sign * b->first,
                  a->second + sign * b->second, a->constant + sign * b->constant};
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
