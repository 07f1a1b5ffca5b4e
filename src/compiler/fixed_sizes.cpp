#include "compiler/fixed_sizes.h"

#include <algorithm>
#include <map>

#include "ops/control_flow.h"
#include "ops/symbols.h"

namespace camshaft {

namespace {

using SymbolSizes = std::map<std::string, int64_t>;

// Of the symbols that a profile gives one size, within the range that the graph was made for.
// Profiles that do not fit the graph are refused later.
SymbolSizes sizesIn(const Graph& graph, const ShapeProfile& profile) {
  std::map<std::string, DimRange> ranges;  // what some input with the symbol allows
  for (const Value* input : graph.inputs) {
    const auto given = profile.inputs.find(input->name);
    if (given == profile.inputs.end()) continue;
    const InputRange& range = given->second;
    const size_t rank = input->shape().size();
    if (range.min.size() != rank || range.max.size() != rank) return {};
    for (size_t i = 0; i < rank; ++i) {
      if (!input->shape()[i].isSymbol()) continue;
      const DimRange own{range.min[i], range.max[i]};
      DimRange& known = ranges.try_emplace(input->shape()[i].symbolName(), own).first->second;
      known = {std::min(known.min, own.min), std::max(known.max, own.max)};
    }
  }
  SymbolSizes sizes;
  for (const auto& [symbol, range] : ranges)
    if (range.min == range.max && range.min >= graph.symbolRange()(symbol).min &&
        range.max <= graph.symbolRange()(symbol).max)
      sizes.emplace(symbol, range.min);
  return sizes;
}

}  // namespace

void fixSizes(Graph& graph, const std::vector<ShapeProfile>& profiles) {
  if (profiles.empty()) return;
  SymbolSizes fixed = sizesIn(graph, profiles.front());
  for (const ShapeProfile& profile : profiles) {
    const SymbolSizes others = sizesIn(graph, profile);
    std::erase_if(fixed, [&](const auto& one) {
      const auto other = others.find(one.first);
      return other == others.end() || other->second != one.second;
    });
  }
  for (const auto& node : graph.nodes())
    if (hasBodies(*node))
      for (const std::string& symbol : symbolsOf(*node)) fixed.erase(symbol);
  if (fixed.empty()) return;
  substituteSymbols(graph, [&](const std::string& name) {
    const auto it = fixed.find(name);
    return it == fixed.end() ? Dim::symbol(name) : Dim(it->second);
  });
  for (const auto& [symbol, size] : fixed) graph.symbols.erase(symbol);
}

}  // namespace camshaft
