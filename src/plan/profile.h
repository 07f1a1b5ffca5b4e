// Optimisation profiles: what is promised of the inputs' shapes, as ranges of symbols.
#pragma once

#include <map>
#include <string>

#include "ir/graph.h"
#include "plan/plan.h"

namespace camshaft {

// The profile resolved against a graph: every symbol with its range and the size to optimise for.
struct ResolvedProfile {
  std::vector<InputRange> inputs;  // parallel to graph.inputs
  std::map<std::string, DimRange> ranges;
  std::map<std::string, int64_t> opt;

  // Both look things up here, as long as they are used.
  SymbolRange rangeOfSymbol(const Graph& graph) const&;
  SymbolRange rangeOfSymbol(const Graph& graph) && = delete;
  SymbolValue optValue(const Graph& graph) const&;  // symbols without an opt get a likely size
  SymbolValue optValue(const Graph& graph) && = delete;
};

// Throws Error naming the input when the profile contradicts the graph: min > max, a fixed
// dimension given another size, one symbol with two ranges. Inputs the profile does not mention
// get bounds guessed from where the dimension stands; their names are added to `guessed`.
ResolvedProfile resolveProfile(const Graph& graph, const ShapeProfile& profile,
                               std::vector<std::string>& guessed);

}  // namespace camshaft
