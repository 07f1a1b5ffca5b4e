#include "passes/channel_affine.h"

#include <algorithm>
#include <cmath>

namespace camshaft {

bool ChannelAffine::scales() const {
  return std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1; });
}

bool ChannelAffine::shifts() const {
  return std::any_of(shift.begin(), shift.end(), [](double s) { return s != 0; });
}

namespace {

// One instruction's result: scale*x + shift, where no scale means that x takes no part.
struct Term {
  std::vector<double> scale, shift;
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

Term negated(const Term& a) { return {negate(a.scale), negate(a.shift)}; }

Term sum(const Term& a, const Term& b) {
  Term out;
  if (a.isConstant())
    out.scale = b.scale;
  else if (b.isConstant())
    out.scale = a.scale;
  else
    out.scale = combine(a.scale, b.scale, std::plus<>());
  out.shift = combine(a.shift, b.shift, std::plus<>());
  return out;
}

Term scaled(const Term& a, const std::vector<double>& factor) {
  Term out;
  if (!a.isConstant()) out.scale = combine(a.scale, factor, std::multiplies<>());
  out.shift = combine(a.shift, factor, std::multiplies<>());
  return out;
}

// The functions that spell out a normalisation's constants, as in scale / sqrt(variance + epsilon).
std::optional<Term> constantFunction(ScalarOp op, const Term& a) {
  switch (op) {
    case ScalarOp::kSqrt:
      return Term{{}, map(a.shift, [](double v) { return std::sqrt(v); })};
    case ScalarOp::kRsqrt:
      return Term{{}, map(a.shift, [](double v) { return 1 / std::sqrt(v); })};
    case ScalarOp::kReciprocal:
      return Term{{}, map(a.shift, [](double v) { return 1 / v; })};
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
      if (b->isConstant()) return scaled(a, b->shift);
      if (a.isConstant()) return scaled(*b, a.shift);
      return std::nullopt;
    case ScalarOp::kDiv:
      if (!b->isConstant()) return std::nullopt;
      return scaled(a, map(b->shift, [](double v) { return 1 / v; }));
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
      term = Term{{}, std::vector<double>(channels, in.real)};
    } else if (in.op == ScalarOp::kInput && bound.inputs[in.a] == x) {
      term = Term{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
    } else if (in.op == ScalarOp::kInput) {
      if (auto values = perChannel(*bound.inputs[in.a], x->shape(), channelAxis, channels))
        term = Term{{}, std::move(*values)};
    } else if (infoOf(in.op).arity <= 2) {
      term = apply(in.op, terms[in.a], in.b >= 0 ? &terms[in.b] : nullptr);
    }
    if (!term) return std::nullopt;
    terms.push_back(std::move(*term));
  }
  if (terms.back().isConstant()) return std::nullopt;
  return ChannelAffine{std::move(terms.back().scale), std::move(terms.back().shift)};
}

}  // namespace camshaft
