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

// Bodies' constants as toText(graph, fullConstants) prints them.
AttrTexts textsOf(const Attrs& attrs, bool fullConstants = true);
// Sets the named fields; fails on a field the attributes do not have, or text it cannot mean.
void setFromTexts(Attrs& attrs, const AttrTexts& texts, OpLookup findOp);
// The symbols of every dimension among the attributes.
void collectSymbols(const Attrs& attrs, std::set<std::string>& names);

}  // namespace camshaft
