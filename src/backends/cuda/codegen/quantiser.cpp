#include "backends/cuda/codegen/quantiser.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace camshaft::cuda {
namespace {

// Reads an expression from its end towards its inputs.
class Reader {
 public:
  Reader(const Expr& expr, int at) : code_(expr.code()), at_(at) {}

  int at() const { return at_; }
  const ScalarInstruction& here() const { return code_[at_]; }
  bool isFloat() const { return here().type == DataType::kF32; }
  void enter() { at_ = here().a; }

  // The constant of a binary operation with one, where it is float; the other operand is entered.
  std::optional<double> constantOf(ScalarOp op) {
    if (here().op != op || !isFloat()) return std::nullopt;
    const bool isCommutative = op != ScalarOp::kDiv && op != ScalarOp::kSub;
    const int a = here().a, b = here().b;
    const bool isFirst = code_[b].op != ScalarOp::kConst;
    if (isFirst && (!isCommutative || code_[a].op != ScalarOp::kConst)) return std::nullopt;
    at_ = isFirst ? b : a;
    return code_[isFirst ? a : b].real;
  }

 private:
  std::span<const ScalarInstruction> code_;
  int at_;
};

// A bound from above or below: min, max or ReLU.
struct Bound {
  bool isUpper;
  double limit;
  Reader inside;
};
std::optional<Bound> boundAt(Reader reader) {
  if (reader.here().op == ScalarOp::kRelu && reader.isFloat()) {
    reader.enter();
    return Bound{false, 0, reader};
  }
  for (const ScalarOp op : {ScalarOp::kMin, ScalarOp::kMax})
    if (const std::optional<double> limit = reader.constantOf(op))
      return Bound{op == ScalarOp::kMin, *limit, reader};
  return std::nullopt;
}

// Goes into bounds beyond which `toByte` gives the lowest or the highest byte anyway. It never
// falls, and NaN passes through bounds.
template <class ToByte>
void dropBounds(Reader& reader, const ByteRange& bytes, ToByte toByte) {
  while (const std::optional<Bound> bound = boundAt(reader)) {
    const double byte = toByte(bound->limit);
    if (!(bound->isUpper ? byte >= bytes.highest() : byte <= bytes.lowest())) return;
    reader = bound->inside;
  }
}

}  // namespace

std::optional<Quantisation> quantisationAt(const Expr& expr, int at) {
  const ScalarInstruction& cast = expr.code()[at];
  if (cast.op != ScalarOp::kCast || (cast.type != DataType::kU8 && cast.type != DataType::kI8) ||
      expr.code()[cast.a].type != DataType::kF32)
    return std::nullopt;
  Quantisation result{.x = -1, .reciprocal = {}, .bytes = {.type = cast.type}};
  Reader reader(expr, cast.a);
  dropBounds(reader, result.bytes, [](double x) { return x; });
  if (const std::optional<double> zero = reader.constantOf(ScalarOp::kAdd)) {
    if (std::abs(*zero) > 255 || *zero != std::rint(*zero)) return std::nullopt;
    result.bytes.zero = static_cast<int>(*zero);
  }
  if (reader.here().op != ScalarOp::kRound) return std::nullopt;
  reader.enter();
  Reader divided = reader;
  float scale = 1;
  if (const std::optional<double> divisor = divided.constantOf(ScalarOp::kDiv)) {
    scale = static_cast<float>(*divisor);
    result.reciprocal = reciprocalFor(scale, result.bytes);
    if (result.reciprocal) reader = divided;
  }
  if (!result.reciprocal) scale = 1;
  dropBounds(reader, result.bytes, [&](double x) {
    return std::rint(static_cast<float>(x) / scale) + static_cast<float>(result.bytes.zero);
  });
  result.x = reader.at();
  return result;
}

// Floats of up to 32 bits are all computed in f32, and not rounded before they are stored.
std::optional<Quotient> float8QuotientAt(const Expr& expr, int at) {
  const auto& code = expr.code();
  const ScalarInstruction& cast = code[at];
  if (cast.op != ScalarOp::kCast || !isFloat8(cast.type)) return std::nullopt;
  const auto isReadOnce = [&](int i) {
    return 1 == std::ranges::count_if(code, [&](const ScalarInstruction& each) {
             return each.op != ScalarOp::kInput && (each.a == i || each.b == i || each.c == i);
           });
  };
  const auto widens = [&](const ScalarInstruction& each) {
    return each.op == ScalarOp::kCast && isFloat(code[each.a].type) &&
           bitsOf(each.type) >= bitsOf(code[each.a].type);
  };
  int from = cast.a;
  while (widens(code[from]) && isReadOnce(from)) from = code[from].a;
  const ScalarInstruction& quotient = code[from];
  if (quotient.op != ScalarOp::kDiv || bitsOf(quotient.type) > 32 || !isReadOnce(from) ||
      code[quotient.b].op != ScalarOp::kConst)
    return std::nullopt;
  const auto reciprocal = reciprocalFor(static_cast<float>(code[quotient.b].real), cast.type);
  return reciprocal ? std::optional(Quotient{from, *reciprocal}) : std::nullopt;
}

}  // namespace camshaft::cuda
