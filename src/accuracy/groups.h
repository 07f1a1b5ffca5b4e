// The units whose precision is chosen: products, each with what is computed from it up to the next.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace camshaft {

struct PrecisionGroup {
  std::vector<int> nodes;     // by their place in the graph's order
  std::vector<int> products;  // those of them that multiply; none in a graph without products
};

// What is computed from no product goes with the first one after it.
std::vector<PrecisionGroup> groupsOf(const Graph& graph);

// Joins groups that have nodes of one set.
std::vector<PrecisionGroup> joined(const std::vector<PrecisionGroup>& groups,
                                   const std::vector<std::set<int>>& together);

// Nodes of one name, which a recipe cannot tell apart.
std::vector<std::set<int>> namesakes(const Graph& graph);

}  // namespace camshaft
