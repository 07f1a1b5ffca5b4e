// Products of few rows that read their weights as fast as memory gives them, and do more than
// others in one go (FusionAbilities::streamedElements).
#pragma once

#include "ir/graph.h"
#include "passes/passes.h"

namespace camshaft {

// A MatMulNBits whatever its columns are. Whoever makes it one that nothing else computes asks this
// first.
bool isWeightStream(const Graph& graph, const Node& node, const PassOptions& options);

}  // namespace camshaft
