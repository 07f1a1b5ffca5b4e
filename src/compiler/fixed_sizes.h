// Sizes that are run-time sizes of the network and no profile lets vary.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"

namespace camshaft {

// An input x[n, 3] that is [4, 3] to [4, 3] in every profile becomes x[4, 3]: the engine's shapes
// then say so, as TensorRT's do, and what follows from them is optimised as in a static network.
// Sizes that branches and loops read stay: a branch that they do not fit may be one never taken.
void fixSizes(Graph& graph, const std::vector<ShapeProfile>& profiles);

}  // namespace camshaft
