// Attributes to text and back, field by field.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace camshaft {

using AttrTexts = std::vector<std::pair<std::string, std::string>>;  // field and its value's text

// How constants are printed, also those of bodies.
struct ConstantForm {
  bool isFull = true;                            // all elements, however many
  const ConstantNumber* numberOf = nullptr;      // of those that stand beside the text
  const ObjectNumber* objectNumberOf = nullptr;  // likewise
};
AttrTexts textsOf(const Attrs& attrs, const ConstantForm& form = {});
std::string toText(const Graph& graph, const ConstantForm& form);
// Sets the named fields; fails on a field the attributes do not have, or text it cannot mean.
void setFromTexts(Attrs& attrs, const AttrTexts& texts, OpLookup findOp,
                  const BesideText& beside = {});
// The symbols of every dimension among the attributes.
void collectSymbols(const Attrs& attrs, std::set<std::string>& names);

}  // namespace camshaft
