#include "ops/rules.h"

#include <utility>

namespace camshaft {

bool mayBeEqual(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  return !difference.isConstant() || difference.value() == 0;
}

const Dim& moreKnown(const Dim& a, const Dim& b) { return b.isConstant() ? b : a; }

// The operands of a minimum or maximum that is nothing else.
static const DimAtom* extremumOf(const Dim& dim, DimAtom::Kind kind) {
  if (dim.isConstant() || dim.constantPart() != 0 || dim.terms().size() != 1) return nullptr;
  const Dim::Term& term = dim.terms().front();
  const bool isAtom = term.coefficient == 1 && term.atoms.size() == 1;
  return isAtom && term.atoms.front()->kind == kind ? term.atoms.front().get() : nullptr;
}

// By the ranges of symbols, or since min(a, x) <= a and a <= max(a, x).
static bool isAtMost(const Dim& a, const Dim& b, int depth) {
  if (rangeOf(a - b, [](const std::string&) { return DimRange{}; }).max <= 0) return true;
  if (depth == 0) return false;
  const DimAtom* least = extremumOf(a, DimAtom::Kind::kMin);
  if (least && (isAtMost(least->a, b, depth - 1) || isAtMost(least->b, b, depth - 1))) return true;
  const DimAtom* most = extremumOf(b, DimAtom::Kind::kMax);
  return most && (isAtMost(a, most->a, depth - 1) || isAtMost(a, most->b, depth - 1));
}

bool isAtMost(const Dim& a, const Dim& b) {
  constexpr int kMaxDepth = 3;
  return isAtMost(a, b, kMaxDepth);
}

// Where this thread's inference leaves what it cannot decide; null: nobody asks.
static thread_local std::vector<SizeCondition>* undecided = nullptr;

std::vector<SizeCondition> sizeConditionsOf(const Node& node) {
  std::vector<SizeCondition> conditions;
  std::vector<SizeCondition>* const outer = std::exchange(undecided, &conditions);
  try {
    node.op->infer(node);
  } catch (...) {
    undecided = outer;
    throw;
  }
  undecided = outer;
  return conditions;
}

void requireSizes(SizeCondition condition) {
  if (neverHolds(condition))
    fail(ErrorKind::kInvalidModel, condition.before, condition.a, condition.between, condition.b,
         condition.after);
  if (undecided) undecided->push_back(std::move(condition));
}

void requireSame(const Dim& a, const Dim& b, std::string_view sentence) {
  if (a != b) requireSizes({SizeRelation::kEqual, a, b, str(sentence, " ("), " and ", ")"});
}

void requireAtLeast(const Node& node, const Dim& have, std::string_view haveWhat,
                    const Dim& least) {
  if (have.isConstant() && least.isConstant() && have.value() >= least.value()) return;
  requireSizes({SizeRelation::kAtLeast, have, least, str(describe(node), " has "),
                str(" ", haveWhat, " where it needs at least "), ""});
}

void requireMultiple(const Node& node, const Dim& have, std::string_view haveWhat,
                     const Dim& factor) {
  if (factor.isConstant(0)) return;
  const Dim multiple = floorDiv(have, factor) * factor;
  if (have != multiple)
    requireSizes({SizeRelation::kEqual, have, multiple, str(describe(node), " has "),
                  str(" ", haveWhat, " where it needs a multiple of ", factor, " such as "), ""});
}

Dim broadcastSize(const Dim& a, const Dim& b, std::string_view who) {
  if (a == b || b.isConstant(1)) return a;
  if (a.isConstant(1)) return b;
  // Detectors compute sizes in two ways that are the same number and no short expression: these are
  // followed as one of them, and the run refuses what that does not cover.
  constexpr size_t kLongest = 500;
  if (!a.isConstant() && !b.isConstant() && toString(a).size() + toString(b).size() > kLongest) {
    const bool takesB = isAtMost(a, b);
    requireSizes({SizeRelation::kBroadcastTo, takesB ? a : b, takesB ? b : a,
                  str(who, " has a size of "), " that does not broadcast to ", ""});
    return takesB ? b : a;
  }
  requireSizes(
      {SizeRelation::kBroadcast, a, b, str(who, " has sizes "), " and ", " that do not broadcast"});
  return broadcast(a, b);
}

void requireEqual(const Node& node, const Dim& have, std::string_view haveWhat, const Dim& want,
                  std::string_view wantWhat) {
  if (have != want)
    requireSizes({SizeRelation::kEqual, have, want, str(describe(node), " has "),
                  str(" ", haveWhat, " where ", wantWhat, " "), ""});
}

void requireRank(const Node& node, int input, std::string_view what, int64_t rank) {
  const TensorType& type = node.inputs[input]->type;
  if (type.rank() != rank)
    fail(ErrorKind::kInvalidModel, describe(node), " needs ", what, " of rank ", rank, " and got ",
         type);
}

void requireShape(const Node& node, int input, std::string_view what, const Shape& shape) {
  requireRank(node, input, what, static_cast<int64_t>(shape.size()));
  const TensorType& type = node.inputs[input]->type;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!mayBeEqual(type.shape[i], shape[i]))
      fail(ErrorKind::kInvalidModel, describe(node), " needs ", what, " of shape ", toString(shape),
           " and got ", toString(type));
    requireEqual(node, type.shape[i], str("elements in dimension ", i, " of ", what), shape[i],
                 "it needs");
  }
}

void requireBroadcastsTo(const Node& node, int input, std::string_view what, const Shape& shape) {
  const Shape& own = node.inputs[input]->shape();
  bool fits = own.size() <= shape.size();
  for (size_t i = 1; fits && i <= own.size(); ++i) {
    const Dim& size = own[own.size() - i];
    fits = size.isConstant(1) || mayBeEqual(size, shape[shape.size() - i]);
  }
  if (!fits)
    fail(ErrorKind::kInvalidModel, describe(node), " has ", what, " of shape ", toString(own),
         " that does not broadcast to ", toString(shape));
  for (size_t i = 1; i <= own.size(); ++i) {
    const Dim &size = own[own.size() - i], &wanted = shape[shape.size() - i];
    if (size != wanted && !size.isConstant(1))
      requireSizes({SizeRelation::kBroadcastTo, size, wanted,
                    str(describe(node), " has ", what, " of size "), " that does not broadcast to ",
                    ""});
  }
}

void requireAxis(const Node& node, int64_t axis) {
  const TensorType& type = node.inputs[0]->type;
  if (axis < 0 || axis >= type.rank())
    fail(ErrorKind::kInvalidModel, describe(node), " has axis ", axis, " which ", type,
         " does not have");
}

void requireFloat(const Node& node, int input) {
  const DataType type = node.inputs[input]->dataType();
  if (!isFloat(type))
    fail(ErrorKind::kInvalidModel, describe(node), " needs floating-point elements and got ", type,
         " in input ", input);
}

void requireSameType(const Node& node, int input, int other) {
  const DataType a = node.inputs[input]->dataType(), b = node.inputs[other]->dataType();
  if (a != b)
    fail(ErrorKind::kInvalidModel, describe(node), " has inputs ", other, " and ", input,
         " of different types ", b, " and ", a);
}

DataType productType(const Node& node) {
  auto isByte = [](DataType type) { return type == DataType::kI8 || type == DataType::kU8; };
  const DataType a = node.inputs[0]->dataType(), b = node.inputs[1]->dataType();
  if (isByte(a) && isByte(b)) return DataType::kI32;
  if (isFloat8(a) && isFloat8(b)) return DataType::kF32;
  requireSameType(node, 1, 0);
  return a;
}

}  // namespace camshaft
