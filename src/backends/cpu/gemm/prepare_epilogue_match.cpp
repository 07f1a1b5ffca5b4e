#include "backends/cpu/gemm/prepare_epilogue_match.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace camshaft::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

AffineForm combined(AffineForm a, const AffineForm& b, double sign) {
  a.scale += sign * b.scale;
  a.constant += sign * b.constant;
  for (const auto& [operand, coefficient] : b.terms) a.terms[operand] += sign * coefficient;
  return a;
}

AffineForm scaled(AffineForm a, double factor) {
  a.scale *= factor;
  a.constant *= factor;
  for (auto& [operand, coefficient] : a.terms) coefficient *= factor;
  return a;
}

using AffineForms = std::vector<std::optional<AffineForm>>;

std::optional<AffineForm> affineOf(const ScalarInstruction& i, const AffineForms& earlier) {
  if (i.op == ScalarOp::kInput && i.a > 0 && isFloat(i.type))
    return AffineForm{.terms = {{i.a, 1.0}}};
  if (i.type != DataType::kF32) return std::nullopt;
  if (i.op == ScalarOp::kConst) return AffineForm{.constant = i.real};
  if (i.op == ScalarOp::kInput) return AffineForm{.scale = 1};
  // Of a narrow operand; what is computed in other types has no form.
  if (i.op == ScalarOp::kCast) return earlier[i.a];
  const bool isBinary = i.op == ScalarOp::kAdd || i.op == ScalarOp::kSub ||
                        i.op == ScalarOp::kMul || i.op == ScalarOp::kDiv;
  if (!isBinary && i.op != ScalarOp::kNeg) return std::nullopt;
  const std::optional<AffineForm>& a = earlier[i.a];
  if (!a) return std::nullopt;
  if (i.op == ScalarOp::kNeg) return scaled(*a, -1);
  const std::optional<AffineForm>& b = earlier[i.b];
  if (!b) return std::nullopt;
  if (i.op == ScalarOp::kAdd) return combined(*a, *b, 1);
  if (i.op == ScalarOp::kSub) return combined(*a, *b, -1);
  if (i.op == ScalarOp::kMul && a->isConstant()) return scaled(*b, a->constant);
  if (i.op == ScalarOp::kMul && b->isConstant()) return scaled(*a, b->constant);
  if (i.op == ScalarOp::kDiv && b->isConstant() && b->constant != 0)
    return scaled(*a, 1 / b->constant);
  return std::nullopt;
}

std::optional<AffineForm> affineAt(const Expr& expr, int at) {
  AffineForms forms;
  for (int i = 0; i <= at; ++i) forms.push_back(affineOf(expr.code()[i], forms));
  return forms.back();
}

struct Bounds {
  float low = -kInfinity, high = kInfinity;
  int argument;
};

// Minima and maxima with constants around an argument, the outermost first.
Bounds peelBounds(const Expr& expr, int at) {
  const ScalarInstruction& i = expr.code()[at];
  if (i.op == ScalarOp::kRelu) {
    Bounds inner = peelBounds(expr, i.a);
    return {std::max(inner.low, 0.0f), std::max(inner.high, 0.0f), inner.argument};
  }
  if (i.op == ScalarOp::kMin || i.op == ScalarOp::kMax) {
    for (const auto& [value, bound] : {std::pair{i.a, i.b}, std::pair{i.b, i.a}}) {
      if (expr.code()[bound].op != ScalarOp::kConst) continue;
      const float limit = static_cast<float>(expr.code()[bound].real);
      const Bounds inner = peelBounds(expr, value);
      if (i.op == ScalarOp::kMin)
        return {std::min(inner.low, limit), std::min(inner.high, limit), inner.argument};
      return {std::max(inner.low, limit), std::max(inner.high, limit), inner.argument};
    }
  }
  return {.argument = at};
}

// outer = scale * inner + shift
struct Line {
  int inner;
  double scale = 1, shift = -0.0;
  int operations = 0;
  bool divides = false;
};

// What constants are added to and multiplied with, the outermost first.
Line peelConstants(const Expr& expr, int at) {
  Line line{at};
  while (true) {
    const ScalarInstruction& i = expr.code()[line.inner];
    if (i.type != DataType::kF32) return line;
    const auto constantAt = [&](int operand) -> const ScalarInstruction* {
      const bool isConstant = operand >= 0 && expr.code()[operand].op == ScalarOp::kConst;
      return isConstant ? &expr.code()[operand] : nullptr;
    };
    const ScalarInstruction *a = constantAt(i.a), *b = constantAt(i.b);
    const bool commutes = i.op == ScalarOp::kAdd || i.op == ScalarOp::kMul;
    if (!b && !(a && commutes)) return line;
    const double constant = b ? b->real : a->real;
    if (i.op == ScalarOp::kAdd)
      line.shift += line.scale * constant;
    else if (i.op == ScalarOp::kSub)
      line.shift -= line.scale * constant;
    else if (i.op == ScalarOp::kMul)
      line.scale *= constant;
    else if (i.op == ScalarOp::kDiv && constant != 0)
      line.scale /= constant;
    else
      return line;
    line.inner = b ? i.a : i.b;
    line.divides |= i.op == ScalarOp::kDiv;
    ++line.operations;
  }
}

struct Curve {
  Activation activation = Activation::kNone;
  int argument = -1;
};

Curve curveAt(const Expr& expr, int at) {
  const ScalarInstruction& i = expr.code()[at];
  switch (i.op) {
    case ScalarOp::kSigmoid:
      return {Activation::kSigmoid, i.a};
    case ScalarOp::kSilu:
      return {Activation::kSilu, i.a};
    case ScalarOp::kHardSwish:
      return {Activation::kHardSwish, i.a};
    case ScalarOp::kGelu:
      return {Activation::kGelu, i.a};
    case ScalarOp::kTanh:
      return {Activation::kTanh, i.a};
    case ScalarOp::kMul:
      for (const auto& [value, gate] : {std::pair{i.a, i.b}, std::pair{i.b, i.a}})
        if (expr.code()[gate].op == ScalarOp::kSigmoid && expr.code()[gate].a == value)
          return {Activation::kSilu, value};
      return {};
    default:
      return {};
  }
}

// Copies instructions of one expression into another, `at` becoming input 0.
class RemainderBuilder {
 public:
  RemainderBuilder(const Expr& from, int at)
      : from_(from), at_(at), copies_(from.code().size(), -1) {
    const DataType type = from.code()[at].type;
    copies_[at] = rest_.program.input(0, type);
  }

  std::optional<Remainder> build() {
    const int last = static_cast<int>(from_.code().size()) - 1;
    if (last == at_) return Remainder{};
    if (copy(last) < 0) return std::nullopt;
    return rest_;
  }

 private:
  int copy(int index) {
    if (index < 0) return index;
    int& made = copies_[index];
    if (made < 0) made = copyInstruction(from_.code()[index]);
    return made;
  }

  // Negative when x would be needed.
  int copyInstruction(const ScalarInstruction& i) {
    if (i.op == ScalarOp::kInput) {
      if (i.a == 0) return -1;
      rest_.operands.push_back(i.a);
      return rest_.program.input(static_cast<int>(rest_.operands.size()), i.type);
    }
    if (i.op == ScalarOp::kConst)
      return isFloat(i.type) ? rest_.program.constant(i.real, i.type)
                             : rest_.program.constantInteger(i.integer, i.type);
    const int operands[] = {i.a, i.b, i.c};
    int copied[3];
    for (int k = 0; k < 3; ++k) {
      copied[k] = copy(operands[k]);
      if (operands[k] >= 0 && copied[k] < 0) return -1;
    }
    if (i.op == ScalarOp::kCast) return rest_.program.cast(copied[0], i.type);
    if (i.op == ScalarOp::kWhere) return rest_.program.where(copied[0], copied[1], copied[2]);
    return rest_.program.apply(i.op, copied[0], copied[1]);
  }

  const Expr& from_;
  const int at_;
  std::vector<int> copies_;
  Remainder rest_;
};

}  // namespace

Expr overWideSums(const Expr& expr) {
  const auto wide = [](DataType type) {
    return type == DataType::kF16 || type == DataType::kBF16 ? DataType::kF32 : type;
  };
  Expr wider;
  std::vector<int> made;
  for (const ScalarInstruction& i : expr.code()) {
    const DataType type = wide(i.type);
    const auto as = [&](int at, DataType from) { return from == type ? at : wider.cast(at, type); };
    switch (i.op) {
      case ScalarOp::kInput:
        made.push_back(i.a == 0 ? wider.input(0, type) : as(wider.input(i.a, i.type), i.type));
        break;
      case ScalarOp::kConst:
        made.push_back(isFloat(type) ? wider.constant(i.real, type)
                                     : wider.constantInteger(i.integer, type));
        break;
      case ScalarOp::kCast:
        made.push_back(as(made[i.a], wide(expr.code()[i.a].type)));
        break;
      case ScalarOp::kWhere:
        made.push_back(wider.where(made[i.a], made[i.b], made[i.c]));
        break;
      default:
        made.push_back(wider.apply(i.op, made[i.a], i.b >= 0 ? made[i.b] : -1));
    }
  }
  // The result is what was made last.
  const auto last = static_cast<int>(wider.code().size()) - 1;
  if (made.back() != last) wider.cast(made.back(), wider.code()[made.back()].type);
  return wider;
}

static std::optional<ActivationForm> matchCurve(const Expr& expr, int at) {
  if (expr.code()[at].type != DataType::kF32) return std::nullopt;
  ActivationForm form;
  int argument = at;
  if (const Curve curve = curveAt(expr, at); curve.argument >= 0) {
    form.activation = curve.activation;
    argument = curve.argument;
  } else if (const Bounds bounds = peelBounds(expr, at); bounds.argument != at) {
    const bool isRelu = bounds.low == 0 && bounds.high == kInfinity;
    form.activation = isRelu ? Activation::kRelu : Activation::kClip;
    form.low = bounds.low;
    form.high = bounds.high;
    argument = bounds.argument;
  }
  const std::optional<AffineForm> affine = affineAt(expr, argument);
  if (!affine || affine->scale == 0) return std::nullopt;
  form.argument = *affine;
  return form;
}

std::optional<ActivationForm> matchActivation(const Expr& expr, int at) {
  if (std::optional<ActivationForm> form = matchCurve(expr, at)) return form;
  const Line line = peelConstants(expr, at);
  std::optional<ActivationForm> form = matchCurve(expr, line.inner);
  if (!form || !std::isfinite(line.scale) || !std::isfinite(line.shift)) return std::nullopt;
  form->outScale = line.scale;
  form->outShift = line.shift;
  form->isRegrouped = line.operations > 1 || line.divides;
  return form;
}

std::optional<Remainder> remainderAfter(const Expr& expr, int at) {
  return RemainderBuilder(expr, at).build();
}

}  // namespace camshaft::cpu
