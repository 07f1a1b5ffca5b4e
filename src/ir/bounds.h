// Ranges of symbols whose bounds are other symbols.
#pragma once

#include <functional>
#include <string>

#include "ir/graph.h"

namespace camshaft {

// Sizes that depend on data may be bound by one another in chains as long as the graph. Behind this
// many links a bound says little, and is taken as none.
inline constexpr int kMostBoundLinks = 16;

using FindSymbol = std::function<SymbolInfo(const std::string& name)>;
// Upper bounds included.
SymbolRange boundedRanges(FindSymbol find);

}  // namespace camshaft
