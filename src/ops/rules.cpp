#include "ops/rules.h"

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

void requireEqual(const Node& node, const Dim& have, std::string_view haveWhat, const Dim& want,
                  std::string_view wantWhat) {
  if (!mayBeEqual(have, want))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", have, " ", haveWhat, " where ",
         wantWhat, " ", want);
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
  for (size_t i = 0; i < shape.size(); ++i)
    if (!mayBeEqual(type.shape[i], shape[i]))
      fail(ErrorKind::kInvalidModel, describe(node), " needs ", what, " of shape ", toString(shape),
           " and got ", toString(type));
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
  if (isByte(node.inputs[0]->dataType()) && isByte(node.inputs[1]->dataType()))
    return DataType::kI32;
  requireSameType(node, 1, 0);
  return node.inputs[0]->dataType();
}

}  // namespace camshaft
