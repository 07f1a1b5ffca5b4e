#include "ir/size_condition.h"

#include "support/text.h"

namespace camshaft {

bool alwaysHolds(const SizeCondition& condition, const SymbolRange& rangeOfSymbol) {
  const auto& [relation, a, b, before, between, after] = condition;
  if (a == b) return true;
  if (a.isConstant() && b.isConstant()) return holds(relation, a.value(), b.value());
  if (relation == SizeRelation::kAtLeast) return rangeOf(a - b, rangeOfSymbol).min >= 0;
  if (relation == SizeRelation::kEqual) return false;
  return a.isConstant(1) || (relation == SizeRelation::kBroadcast && b.isConstant(1));
}

bool neverHolds(const SizeCondition& condition) {
  const auto& [relation, a, b, before, between, after] = condition;
  const Dim difference = a - b;
  if (a.isConstant() && b.isConstant()) return !holds(relation, a.value(), b.value());
  if (!difference.isConstant()) return false;
  if (relation == SizeRelation::kAtLeast) return difference.value() < 0;
  return relation == SizeRelation::kEqual && difference.value() != 0;
}

static constexpr std::string_view kRelationNames[] = {"equal", "broadcast", "broadcast_to",
                                                      "at_least"};

std::string toString(const SizeCondition& condition) {
  return str(kRelationNames[static_cast<int>(condition.relation)], "(", condition.a, ", ",
             condition.b, ")");
}

std::optional<SizeRelation> parseSizeRelation(std::string_view name) {
  for (size_t i = 0; i < std::size(kRelationNames); ++i)
    if (kRelationNames[i] == name) return static_cast<SizeRelation>(i);
  return std::nullopt;
}

}  // namespace camshaft
