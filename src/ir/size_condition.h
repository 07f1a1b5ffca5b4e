// What is asked of run-time sizes and only a run can answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/dim.h"
#include "support/size_relation.h"

namespace camshaft {

struct SizeCondition {
  SizeRelation relation = SizeRelation::kEqual;
  Dim a, b;
  // The sentence where it does not hold: before, a, between, b, after.
  std::string before, between, after;
};

// Whether it holds whatever the symbols turn out to be; false where that is not seen.
bool alwaysHolds(const SizeCondition& condition, const SymbolRange& rangeOfSymbol);
// Whether it holds for no values of the symbols; false where that is not seen.
bool neverHolds(const SizeCondition& condition);
// "equal(n, 2*m)": the same for conditions that ask the same.
std::string toString(const SizeCondition& condition);
std::optional<SizeRelation> parseSizeRelation(std::string_view name);  // "equal"

}  // namespace camshaft
