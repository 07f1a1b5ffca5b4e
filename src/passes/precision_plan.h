// The types that lower_precision gives nodes and values, chosen before anything is rewritten.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "passes/pass.h"

namespace camshaft {

struct PrecisionPlan {
  // Of products and of nodes that store in their input's type: the type they work on.
  std::unordered_map<const Node*, DataType> nodes;
  // Of every f32 value that a node computes: the type it is stored in.
  std::unordered_map<const Value*, DataType> storage;
  // Pointwise nodes whose result has to stay finite when it is stored in 16 bits.
  std::unordered_set<const Node*> saturating;
};

// A value is stored once, in the type that its readers can use with the fewest casts; f32 where 16
// bits lack the range or the digits. Requests of nodes are kept in any case.
PrecisionPlan planPrecision(const Graph& graph, const PassOptions& options);

}  // namespace camshaft
