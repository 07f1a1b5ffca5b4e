#include "ops/contents.h"

#include <cmath>

#include "ops/pointwise.h"

namespace camshaft {

std::optional<int64_t> contentCount(const TensorType& type) {
  if (type.rank() > 1 || isPacked(type.type)) return std::nullopt;
  if (type.rank() == 0) return 1;
  const Dim& count = type.shape[0];
  if (!count.isConstant() || count.value() > kMaxContents) return std::nullopt;
  return count.value();
}

Contents knownContents(const Value* value) {
  if (value->contents || !value->isConstant() || value->isOpaque()) return value->contents;
  const auto count = contentCount(value->type);
  if (!count) return std::nullopt;
  std::vector<Dim> dims;
  for (int64_t i = 0; i < *count; ++i) {
    const double number = readElement(value->dataType(), value->constant->bytes.data(), i);
    if (number != std::trunc(number) || std::fabs(number) > 1e15) return std::nullopt;
    dims.push_back(static_cast<int64_t>(number));
  }
  return dims;
}

namespace {

using Known = std::optional<Dim>;

DimRange rangeOfSizes(const Dim& dim) {
  return rangeOf(dim, [](const std::string&) { return DimRange{}; });
}

Known truth(bool value) { return Dim(value ? 1 : 0); }

// a / b rounded towards zero, when the signs are known to make that a floor; on floats when exact.
Known divide(const Dim& a, const Dim& b, bool isReal) {
  if (b.isConstant(0)) return std::nullopt;
  if (isReal) {
    const Dim quotient = floorDiv(a, b);
    return quotient * b == a ? Known(quotient) : std::nullopt;
  }
  if (a.isConstant() && b.isConstant())
    return Dim(b.isConstant(-1) ? (Dim(0) - a).value() : a.value() / b.value());
  if (rangeOfSizes(a).min < 0 || rangeOfSizes(b).min < 0) return std::nullopt;
  return floorDiv(a, b);
}

// A comparison with zero that the range of a - b decides.
Known compare(ScalarOp op, const DimRange& d) {
  const bool isZero = d.min == 0 && d.max == 0, notZero = d.min > 0 || d.max < 0;
  const auto decide = [](bool yes, bool no) { return yes || no ? truth(yes) : std::nullopt; };
  switch (op) {
    case ScalarOp::kEqual:
      return decide(isZero, notZero);
    case ScalarOp::kNotEqual:
      return decide(notZero, isZero);
    case ScalarOp::kLess:
      return decide(d.max < 0, d.min >= 0);
    case ScalarOp::kLessEqual:
      return decide(d.max <= 0, d.min > 0);
    case ScalarOp::kGreater:
      return decide(d.min > 0, d.max <= 0);
    case ScalarOp::kGreaterEqual:
      return decide(d.min >= 0, d.max < 0);
    default:
      return std::nullopt;
  }
}

Known logic(ScalarOp op, const Dim& a, const Dim& b) {
  if (!a.isConstant() || !b.isConstant()) return std::nullopt;
  const bool x = a.value() != 0, y = b.value() != 0;
  return truth(op == ScalarOp::kAnd ? x && y : op == ScalarOp::kOr ? x || y : x != y);
}

Known cast(const Dim& a, DataType to) {
  if (to != DataType::kBool) return a;
  const Known isZero = compare(ScalarOp::kEqual, rangeOfSizes(a));
  return isZero ? truth(isZero->isConstant(0)) : std::nullopt;
}

Known unary(ScalarOp op, const Dim& a) {
  switch (op) {
    case ScalarOp::kNeg:
      return Dim(0) - a;
    case ScalarOp::kAbs:
      return rangeOfSizes(a).min >= 0 ? Known(a) : max(a, Dim(0) - a);
    case ScalarOp::kRelu:
      return max(a, 0);
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kTrunc:
      return a;
    case ScalarOp::kNot:
      return a.isConstant() ? truth(a.isConstant(0)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

Known binary(ScalarOp op, const Dim& a, const Dim& b, DataType type) {
  switch (op) {
    case ScalarOp::kAdd:
      return a + b;
    case ScalarOp::kSub:
      return a - b;
    case ScalarOp::kMul:
      return a * b;
    case ScalarOp::kDiv:
      return divide(a, b, isFloat(type));
    case ScalarOp::kFloorDiv:
      return b.isConstant(0) ? std::nullopt : Known(floorDiv(a, b));
    case ScalarOp::kMod:
      return b.isConstant(0) || isFloat(type) ? std::nullopt : Known(mod(a, b));
    case ScalarOp::kMin:
      return min(a, b);
    case ScalarOp::kMax:
      return max(a, b);
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
      return logic(op, a, b);
    default:
      return compare(op, rangeOfSizes(a - b));
  }
}

Known select(const Known& condition, const Known& a, const Known& b) {
  if (condition && condition->isConstant()) return condition->isConstant(0) ? b : a;
  return a && b && *a == *b ? a : std::nullopt;
}

Known constantOf(const ScalarInstruction& in) {
  if (!isFloat(in.type)) return Dim(in.integer);
  if (in.real != std::trunc(in.real) || std::fabs(in.real) > 1e15) return std::nullopt;
  return Dim(static_cast<int64_t>(in.real));
}

// The expression on one element of each input.
Known evaluateOnDims(const Expr& expr, const std::vector<Known>& inputs) {
  std::vector<Known> values;
  const auto& code = expr.code();
  for (const ScalarInstruction& in : code) {
    const auto operand = [&](int i) { return i >= 0 ? values[i] : std::nullopt; };
    Known result;
    if (in.op == ScalarOp::kInput)
      result = inputs[in.a];
    else if (in.op == ScalarOp::kConst)
      result = constantOf(in);
    else if (in.op == ScalarOp::kWhere)
      result = select(operand(in.a), operand(in.b), operand(in.c));
    else if (const Known a = operand(in.a), b = operand(in.b); a && in.op == ScalarOp::kCast)
      result = cast(*a, in.type);
    else if (a && infoOf(in.op).arity == 1)
      result = unary(in.op, *a);
    else if (a && b)
      result = binary(in.op, *a, *b, code[in.a].type);
    values.push_back(std::move(result));
  }
  return values.back();
}

}  // namespace

Contents pointwiseContents(const Node& node) {
  const auto count = contentCount(node.output()->type);
  if (!count) return std::nullopt;
  std::vector<Contents> inputs;
  bool anyKnown = false;
  for (const Value* input : node.inputs) {
    inputs.push_back(knownContents(input));
    anyKnown = anyKnown || inputs.back();
  }
  if (!anyKnown) return std::nullopt;
  std::vector<Dim> results;
  try {
    for (int64_t i = 0; i < *count; ++i) {
      std::vector<Known> elements;
      for (const Contents& contents : inputs)
        elements.push_back(contents ? Known(contents->at(contents->size() == 1 ? 0 : i))
                                    : std::nullopt);
      Known result = evaluateOnDims(node.as<PointwiseAttrs>().expr, elements);
      if (!result) return std::nullopt;
      results.push_back(std::move(*result));
    }
  } catch (const Error&) {
    return std::nullopt;  // numbers too large for sizes: no shape arithmetic after all
  }
  return results;
}

}  // namespace camshaft
