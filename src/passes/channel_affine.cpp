#include "passes/channel_affine.h"

#include <algorithm>
#include <cmath>

namespace camshaft {

bool ChannelAffine::scales() const {
  return isScaleOpaque || std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1; });
}

bool ChannelAffine::shifts() const {
  return isShiftOpaque || std::any_of(shift.begin(), shift.end(), [](double s) { return s != 0; });
}

namespace {

// One instruction's result: scale*x + shift, where no scale means that x takes no part.
struct Term : ChannelAffine {
  bool isConstant() const { return scale.empty(); }
};

template <class F>
std::vector<double> combine(const std::vector<double>& a, const std::vector<double>& b, F f) {
  std::vector<double> out(a.size());
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), f);
  return out;
}

template <class F>
std::vector<double> map(const std::vector<double>& a, F f) {
  std::vector<double> out(a.size());
  std::transform(a.begin(), a.end(), out.begin(), f);
  return out;
}

// A constant that varies along the channel dimension only, one entry per channel.
std::optional<std::vector<double>> perChannel(const Value& value, const Shape& shape,
                                              int64_t channelAxis, int64_t channels) {
  if (!value.isConstant() || !isFloat(value.dataType()) || isPacked(value.dataType()))
    return std::nullopt;
  const int64_t offset = static_cast<int64_t>(shape.size()) - value.rank();
  if (offset < 0) return std::nullopt;
  for (int64_t i = 0; i < value.rank(); ++i)
    if (i + offset != channelAxis && !value.shape()[i].isConstant(1)) return std::nullopt;
  const int64_t count = numElements(value.shape()).value();
  std::vector<double> out(channels);
  for (int64_t c = 0; c < channels; ++c)
    out[c] = readElement(value.dataType(), value.constant->bytes.data(), count == 1 ? 0 : c);
  return out;
}

std::vector<double> negate(const std::vector<double>& a) { return map(a, std::negate<>()); }

Term constantTerm(std::vector<double> values, bool isOpaque) {
  Term term;
  term.shift = std::move(values);
  term.isShiftOpaque = isOpaque;
  return term;
}

Term negated(Term a) {
  a.scale = negate(a.scale);
  a.shift = negate(a.shift);
  return a;
}

Term sum(const Term& a, const Term& b) {
  Term out;
  if (a.isConstant())
    out.scale = b.scale;
  else if (b.isConstant())
    out.scale = a.scale;
  else
    out.scale = combine(a.scale, b.scale, std::plus<>());
  out.shift = combine(a.shift, b.shift, std::plus<>());
  out.isScaleOpaque = a.isScaleOpaque || b.isScaleOpaque;
  out.isShiftOpaque = a.isShiftOpaque || b.isShiftOpaque;
  return out;
}

Term scaled(const Term& a, const Term& factor) {
  Term out;
  if (!a.isConstant()) out.scale = combine(a.scale, factor.shift, std::multiplies<>());
  out.shift = combine(a.shift, factor.shift, std::multiplies<>());
  out.isScaleOpaque = !a.isConstant() && (a.isScaleOpaque || factor.isShiftOpaque);
  out.isShiftOpaque = a.isShiftOpaque || (factor.isShiftOpaque && a.shifts());  // 0 stays 0
  return out;
}

Term reciprocal(const Term& a) {
  return constantTerm(map(a.shift, [](double v) { return 1 / v; }), a.isShiftOpaque);
}

// The functions that spell out a normalisation's constants, as in scale / sqrt(variance + epsilon).
std::optional<Term> constantFunction(ScalarOp op, const Term& a) {
  switch (op) {
    case ScalarOp::kSqrt:
      return constantTerm(map(a.shift, [](double v) { return std::sqrt(v); }), a.isShiftOpaque);
    case ScalarOp::kRsqrt:
      return constantTerm(map(a.shift, [](double v) { return 1 / std::sqrt(v); }), a.isShiftOpaque);
    case ScalarOp::kReciprocal:
      return reciprocal(a);
    default:
      return std::nullopt;
  }
}

std::optional<Term> apply(ScalarOp op, const Term& a, const Term* b) {
  switch (op) {
    case ScalarOp::kNeg:
      return negated(a);
    case ScalarOp::kAdd:
      return sum(a, *b);
    case ScalarOp::kSub:
      return sum(a, negated(*b));
    case ScalarOp::kMul:
      if (b->isConstant()) return scaled(a, *b);
      if (a.isConstant()) return scaled(*b, a);
      return std::nullopt;
    case ScalarOp::kDiv:
      if (!b->isConstant()) return std::nullopt;
      return scaled(a, reciprocal(*b));
    default:
      return a.isConstant() && !b ? constantFunction(op, a) : std::nullopt;
  }
}

}  // namespace

std::optional<ChannelAffine> asChannelAffine(const BoundExpr& bound, const Value* x,
                                             int64_t channelAxis) {
  if (!x->shape()[channelAxis].isConstant()) return std::nullopt;
  const int64_t channels = x->shape()[channelAxis].value();
  std::vector<Term> terms;
  for (const ScalarInstruction& in : bound.expr.code()) {
    if (in.type != x->dataType()) return std::nullopt;  // a cast or comparison is part of it
    std::optional<Term> term;
    if (in.op == ScalarOp::kConst) {
      term = constantTerm(std::vector<double>(channels, in.real), false);
    } else if (in.op == ScalarOp::kInput && bound.inputs[in.a] == x) {
      term = constantTerm(std::vector<double>(channels, 0), false);
      term->scale.assign(channels, 1);
    } else if (in.op == ScalarOp::kInput) {
      if (auto values = perChannel(*bound.inputs[in.a], x->shape(), channelAxis, channels))
        term = constantTerm(std::move(*values), bound.inputs[in.a]->isOpaque());
    } else if (infoOf(in.op).arity <= 2) {
      term = apply(in.op, terms[in.a], in.b >= 0 ? &terms[in.b] : nullptr);
    }
    if (!term) return std::nullopt;
    terms.push_back(std::move(*term));
  }
  if (terms.back().isConstant()) return std::nullopt;
  return std::move(terms.back());
}

}  // namespace camshaft
