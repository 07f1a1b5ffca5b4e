// An order of a graph's nodes that computes everything before its use.
#pragma once

#include "ir/graph.h"

namespace camshaft::api {

// Restores it after edits, moving as little as possible. Throws where nodes need one another.
void sortNodes(Graph& graph);

}  // namespace camshaft::api
