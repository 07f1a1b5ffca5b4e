// Epilogues that end in bytes and need no program: sums, scaled and quantised, and what follows a
// first quantisation when it is
//
//   one more operand of bytes, added, and quantised again     -> a stage and a residual
//   anything that reads nothing else                          -> a table of 256 bytes
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/gemm/prepare_epilogue_match.h"
#include "backends/cpu/gemm_int8/prepare_epilogue.h"
#include "backends/cpu/gemm_int8/product.h"
#include "ops/pointwise.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

bool isByte(DataType type) { return type == DataType::kU8 || type == DataType::kI8; }

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

struct Clamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

// Relu, minima and maxima with constants around a value, which is returned.
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

// A clamp in front of rounding is one behind it.
void applyClamp(const Clamp& clamp, Requantize& q) {
  q.low = std::clamp(std::nearbyint(clamp.low / q.divisor) + q.zero, q.low, q.high);
  q.high = std::clamp(std::nearbyint(clamp.high / q.divisor) + q.zero, q.low, q.high);
}

// first * x0 + second * x1 + constant, x0 and x1 being bytes.
struct Sum {
  double first = 0, second = 0, constant = 0;
};

std::optional<Sum> sumAt(const Expr& expr, int at) {
  const ScalarInstruction& i = expr.code()[at];
  if (i.type != DataType::kF32) return std::nullopt;
  if (i.op == ScalarOp::kConst) return Sum{.constant = i.real};
  if (i.op == ScalarOp::kCast) {
    const ScalarInstruction& from = expr.code()[i.a];
    if (from.op != ScalarOp::kInput || !isByte(from.type) || from.a > 1) return std::nullopt;
    return from.a == 0 ? Sum{.first = 1} : Sum{.second = 1};
  }
  const bool isSum = i.op == ScalarOp::kAdd || i.op == ScalarOp::kSub;
  if (!isSum && i.op != ScalarOp::kMul) return std::nullopt;
  const std::optional<Sum> a = sumAt(expr, i.a), b = sumAt(expr, i.b);
  if (!a || !b) return std::nullopt;
  if (isSum) {
    const double sign = i.op == ScalarOp::kAdd ? 1 : -1;
    return Sum{a->first + sign * b->first, a->second + sign * b->second,
               a->constant + sign * b->constant};
  }
  const auto isNumber = [](const Sum& sum) { return sum.first == 0 && sum.second == 0; };
  if (!isNumber(*a) && !isNumber(*b)) return std::nullopt;
  const Sum& sum = isNumber(*a) ? *b : *a;
  const double factor = isNumber(*a) ? a->constant : b->constant;
  return Sum{sum.first * factor, sum.second * factor, sum.constant * factor};
}

// Scales, bias and perhaps an f32 residual, then a clamp: what comes before a rounding.
bool takeFirst(const Node& node, const Expr& expr, ScaledEpilogue& scaled, Requantize& q) {
  const std::optional<int> value = matchRequantize(expr, q);
  if (!value || !takeScales(node, upTo(expr, *value), scaled)) return false;
  FusedEpilogue& fused = scaled.fused;
  if (!scaled.refusal.empty() || !fused.program.empty()) return false;
  if (fused.activation == Activation::kRelu)
    applyClamp({.low = 0}, q);
  else if (fused.activation == Activation::kClip)
    applyClamp({fused.low, fused.high}, q);
  else if (fused.activation != Activation::kNone)
    return false;
  fused.activation = Activation::kNone;
  scaled.bytes.isUsed = 1;
  scaled.bytes.divisor = q.divisor;
  return true;
}

// The last rounding of all.
void setResult(const Requantize& q, DataType type, ScaledEpilogue& scaled) {
  const int32_t shift = type == DataType::kI8 ? 128 : 0;
  scaled.type = type;
  scaled.bytes.isSigned = type == DataType::kI8;
  scaled.bytes.zero = static_cast<int32_t>(q.zero) + shift;
  scaled.bytes.low = static_cast<int32_t>(q.low) + shift;
  scaled.bytes.high = static_cast<int32_t>(q.high) + shift;
}

// What follows a first quantisation reads one more tensor of bytes and adds it.
bool takeJoin(const Node& node, const Requantize& first, const Remainder& rest,
              ScaledEpilogue& scaled) {
  if (rest.operands.size() != 1 || scaled.fused.residualInput >= 0) return false;
  const int input = node.ownInputs() + rest.operands[0] - 1;
  const Value& other = *node.inputs[input];
  if (!isByte(other.dataType()) || other.shape() != node.output()->shape()) return false;
  Requantize q;
  const std::optional<int> value = matchRequantize(rest.program, q);
  if (!value) return false;
  Clamp clamp;
  const std::optional<Sum> sum = sumAt(rest.program, peelClamp(rest.program, *value, clamp));
  if (!sum) return false;
  applyClamp(clamp, q);
  setResult(q, node.output()->dataType(), scaled);
  const double shift = other.dataType() == DataType::kI8 ? 128 : 0;
  scaled.bytes.hasStage = 1;
  scaled.bytes.stageLow = first.low - first.zero;
  scaled.bytes.stageHigh = first.high - first.zero;
  scaled.bytes.stageScale = static_cast<float>(sum->first / q.divisor);
  scaled.bytes.residualScale = static_cast<float>(sum->second / q.divisor);
  scaled.bytes.shift = static_cast<float>(
      (sum->first * first.zero + sum->constant - sum->second * shift) / q.divisor);
  scaled.bytesResidual = input;
  return true;
}

std::vector<uint8_t> tableOf(const Expr& program) {
  uint8_t indices[256];
  for (int i = 0; i < 256; ++i) indices[i] = static_cast<uint8_t>(i);
  std::vector<uint8_t> table(256);
  const std::vector<int64_t> dims{256};
  const ConstTensorView in{program.inputType(0), dims, indices};
  evaluateExpr(program, {&in, 1}, TensorView{program.resultType(), dims, table.data()});
  return table;
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

std::optional<ScaledEpilogue> byteEpilogue(const Node& node) {
  const Expr& expr = node.epilogue->expr;
  if (!isByte(node.output()->dataType())) return std::nullopt;
  {
    ScaledEpilogue scaled;
    Requantize q;
    if (takeFirst(node, expr, scaled, q)) {
      setResult(q, expr.resultType(), scaled);
      return scaled;
    }
  }
  const int last = static_cast<int>(expr.code().size()) - 1;
  for (int at = 0; at < last; ++at) {
    const ScalarInstruction& i = expr.code()[at];
    if (i.op != ScalarOp::kCast || !isByte(i.type)) continue;
    const std::optional<Remainder> rest = remainderAfter(expr, at);
    ScaledEpilogue scaled;
    Requantize q;
    if (!rest || rest->program.empty() || !takeFirst(node, upTo(expr, at), scaled, q)) continue;
    if (rest->operands.empty()) {
      setResult(q, i.type, scaled);
      scaled.type = expr.resultType();
      scaled.table = tableOf(rest->program);
      return scaled;
    }
    if (takeJoin(node, q, *rest, scaled)) return scaled;
  }
  return std::nullopt;
}

}  // namespace camshaft::cpu::gemm_int8
