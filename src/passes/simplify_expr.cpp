// The algebra of scalar expressions: simplified(), as a rebuild from the inputs up.
//
//   mul(x, 1), add(x, 0), cast(x: f32, f32)  →  x
//   pow(x, 2)                                →  mul(x, x)
//   div(x, 4)                                →  mul(x, 0.25)      only where exact
//   max(x, 0)                                →  relu(x)
//   div(1, sqrt(x))                          →  rsqrt(x)
//   add(2, x), mul(x, exp(x))                →  add(x, 2), mul(exp(x), x): one order of operands
#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/pointwise.h"
#include "passes/bound_expr.h"

namespace camshaft {

namespace {

class Simplifier {
 public:
  // Index of an instruction that computes this one, whose operands are indices here already.
  int add(ScalarInstruction in) {
    orderOperands(in);
    if (const std::optional<int> folded = foldConstant(in)) return *folded;
    if (const std::optional<int> simpler = rewrite(in)) return *simpler;
    for (size_t i = 0; i < code().size(); ++i)
      if (code()[i] == in) return static_cast<int>(i);
    return append(expr_, in);
  }

  // The builders of Expr, driven by an instruction.
  static int append(Expr& expr, const ScalarInstruction& in) {
    switch (in.op) {
      case ScalarOp::kInput:
        return expr.input(in.a, in.type);
      case ScalarOp::kConst:
        return isFloat(in.type) ? expr.constant(in.real, in.type)
                                : expr.constantInteger(in.integer, in.type);
      case ScalarOp::kCast:
        return expr.cast(in.a, in.type);
      case ScalarOp::kWhere:
        return expr.where(in.a, in.b, in.c);
      default:
        return expr.apply(in.op, in.a, in.b);
    }
  }

  const std::vector<ScalarInstruction>& code() const { return expr_.code(); }

 private:
  const ScalarInstruction& at(int i) const { return code()[i]; }
  bool isConst(int i) const { return i >= 0 && at(i).op == ScalarOp::kConst; }
  bool isConst(int i, double value) const { return isConst(i) && number(i) == value; }
  double number(int i) const {
    return isFloat(at(i).type) ? at(i).real : static_cast<double>(at(i).integer);
  }
  int unary(ScalarOp op, int a) { return add({.op = op, .type = at(a).type, .a = a}); }
  int binary(ScalarOp op, int a, int b) {
    return add({.op = op, .type = at(a).type, .a = a, .b = b});
  }
  int constant(double value, DataType type) { return expr_.constant(value, type); }

  // Operands that commute: computed ones first, then inputs, constants last, each by index.
  void orderOperands(ScalarInstruction& in) const {
    if (!commutes(in.op)) return;
    const auto place = [this](int i) {
      return std::pair(isConst(i) ? 2 : at(i).op == ScalarOp::kInput ? 1 : 0, i);
    };
    if (place(in.b) < place(in.a)) std::swap(in.a, in.b);
  }
  static bool commutes(ScalarOp op) {
    switch (op) {
      case ScalarOp::kAdd:
      case ScalarOp::kMul:
      case ScalarOp::kMin:
      case ScalarOp::kMax:
      case ScalarOp::kAnd:
      case ScalarOp::kOr:
      case ScalarOp::kXor:
      case ScalarOp::kEqual:
      case ScalarOp::kNotEqual:
        return true;
      default:
        return false;
    }
  }

  std::optional<int> foldConstant(const ScalarInstruction& in);
  std::optional<int> rewrite(const ScalarInstruction& in);
  std::optional<int> rewriteCast(const ScalarInstruction& in);
  std::optional<int> rewriteDivision(int a, int b);
  std::optional<int> rewritePower(int a, int b);

  Expr expr_;
};

std::optional<int> Simplifier::foldConstant(const ScalarInstruction& in) {
  const int arity = infoOf(in.op).arity;
  const int operands[] = {in.a, in.b, in.c};
  if (arity == 0 || isPacked(in.type)) return std::nullopt;
  for (int i = 0; i < arity; ++i)
    if (!isConst(operands[i])) return std::nullopt;

  Expr alone;
  ScalarInstruction moved = in;
  int* const movedOperands[] = {&moved.a, &moved.b, &moved.c};
  for (int i = 0; i < arity; ++i) *movedOperands[i] = append(alone, at(operands[i]));
  append(alone, moved);
  int64_t storage = 0;  // wide enough for one element of any type
  evaluateExpr(alone, {}, {in.type, {}, &storage});
  if (isFloat(in.type)) return constant(readElement(in.type, &storage, 0), in.type);
  return expr_.constantInteger(readInteger(in.type, &storage, 0), in.type);
}

std::optional<int> Simplifier::rewrite(const ScalarInstruction& in) {
  const auto [op, type, a, b, c, real, integer] = in;
  switch (op) {
    case ScalarOp::kCast:
      return rewriteCast(in);
    case ScalarOp::kWhere:
      if (b == c) return b;
      if (isConst(a)) return number(a) != 0 ? b : c;
      break;
    case ScalarOp::kAdd:
      if (isConst(b, 0)) return a;
      break;
    case ScalarOp::kSub:
      if (isConst(b, 0)) return a;
      if (isConst(a, 0) && isFloat(type)) return unary(ScalarOp::kNeg, b);
      break;
    case ScalarOp::kMul:
      if (isConst(b, 1)) return a;
      break;
    case ScalarOp::kAnd:
      if (isConst(b)) return number(b) != 0 ? a : b;
      break;
    case ScalarOp::kOr:
      if (isConst(b)) return number(b) != 0 ? b : a;
      break;
    case ScalarOp::kMax:  // both propagate NaN
      if (isConst(b, 0)) return unary(ScalarOp::kRelu, a);
      break;
    case ScalarOp::kRelu:
      if (at(a).op == ScalarOp::kRelu || at(a).op == ScalarOp::kSigmoid) return a;
      break;
    case ScalarOp::kNeg:
    case ScalarOp::kNot:
      if (at(a).op == op) return at(a).a;
      break;
    case ScalarOp::kReciprocal:
      if (at(a).op == ScalarOp::kSqrt) return unary(ScalarOp::kRsqrt, at(a).a);
      break;
    case ScalarOp::kDiv:
      return rewriteDivision(a, b);
    case ScalarOp::kPow:
      return rewritePower(a, b);
    default:
      break;
  }
  return std::nullopt;
}

// A cast that a second one undoes without loss: to a wider type of the same kind and back.
std::optional<int> Simplifier::rewriteCast(const ScalarInstruction& in) {
  const ScalarInstruction& from = at(in.a);
  if (from.type == in.type) return in.a;
  if (from.op != ScalarOp::kCast || at(from.a).type != in.type) return std::nullopt;
  const bool sameKind =
      isFloat(from.type) == isFloat(in.type) && isSigned(from.type) == isSigned(in.type);
  const bool wider = bitsOf(from.type) >= 2 * bitsOf(in.type);
  const bool fromBool = in.type == DataType::kBool;
  if (fromBool || (sameKind && wider)) return from.a;
  return std::nullopt;
}

// Multiplying by the reciprocal is faster, and exact when the divisor is a power of two. Others
// stay: a quotient that should be a tie (as in quantisation) would round to the other side.
std::optional<int> Simplifier::rewriteDivision(int a, int b) {
  if (isConst(b, 1)) return a;
  if (!isFloat(at(a).type)) return std::nullopt;
  if (isConst(a, 1)) return unary(ScalarOp::kReciprocal, b);
  if (!isConst(b)) return std::nullopt;
  int exponent = 0;
  const bool powerOfTwo = std::fabs(std::frexp(number(b), &exponent)) == 0.5;
  if (!powerOfTwo || std::abs(exponent) > 14) return std::nullopt;  // normal in f16 too
  return binary(ScalarOp::kMul, a, constant(1 / number(b), at(b).type));
}

std::optional<int> Simplifier::rewritePower(int a, int b) {
  if (!isConst(b)) return std::nullopt;
  const double exponent = number(b);
  if (exponent == 1) return a;
  if (exponent == 2) return binary(ScalarOp::kMul, a, a);
  if (!isFloat(at(a).type)) return std::nullopt;
  if (exponent == 3) return binary(ScalarOp::kMul, binary(ScalarOp::kMul, a, a), a);
  if (exponent == 0.5) return unary(ScalarOp::kSqrt, a);
  if (exponent == -0.5) return unary(ScalarOp::kRsqrt, a);
  if (exponent == -1) return unary(ScalarOp::kReciprocal, a);
  return std::nullopt;
}

// Only what instruction `result` needs, its inputs first and renumbered.
BoundExpr extract(const std::vector<ScalarInstruction>& code, int result,
                  const std::vector<Value*>& inputs) {
  std::vector<bool> needed(code.size());
  needed[result] = true;
  for (int i = result; i >= 0; --i) {
    if (!needed[i] || code[i].op == ScalarOp::kInput) continue;
    for (int operand : {code[i].a, code[i].b, code[i].c})
      if (operand >= 0) needed[operand] = true;
  }

  BoundExpr bound;
  std::vector<int> at(code.size(), -1);
  for (size_t input = 0; input < inputs.size(); ++input)
    for (size_t i = 0; i < code.size(); ++i)
      if (needed[i] && code[i].op == ScalarOp::kInput && code[i].a == static_cast<int>(input)) {
        at[i] = bound.expr.input(static_cast<int>(bound.inputs.size()), code[i].type);
        bound.inputs.push_back(inputs[input]);
      }
  for (size_t i = 0; i < code.size(); ++i) {
    if (!needed[i] || code[i].op == ScalarOp::kInput) continue;
    ScalarInstruction in = code[i];
    for (int* operand : {&in.a, &in.b, &in.c})
      if (*operand >= 0) *operand = at[*operand];
    at[i] = Simplifier::append(bound.expr, in);
  }
  return bound;
}

}  // namespace

BoundExpr simplified(const BoundExpr& bound) {
  Simplifier simplifier;
  const std::vector<ScalarInstruction>& code = bound.expr.code();
  std::vector<int> at(code.size());
  // Inputs first, so that their order is that of their index; equal ones are one.
  for (size_t input = 0; input < bound.inputs.size(); ++input)
    for (size_t i = 0; i < code.size(); ++i) {
      if (code[i].op != ScalarOp::kInput || code[i].a != static_cast<int>(input)) continue;
      const auto first = std::find(bound.inputs.begin(), bound.inputs.end(), bound.inputs[input]);
      at[i] = simplifier.add({.op = ScalarOp::kInput,
                              .type = code[i].type,
                              .a = static_cast<int>(first - bound.inputs.begin())});
    }
  for (size_t i = 0; i < code.size(); ++i) {
    ScalarInstruction in = code[i];
    if (in.op == ScalarOp::kInput) continue;
    for (int* operand : {&in.a, &in.b, &in.c})
      if (*operand >= 0) *operand = at[*operand];
    at[i] = simplifier.add(in);
  }
  return extract(simplifier.code(), at.back(), bound.inputs);
}

}  // namespace camshaft
