// An order of a graph's nodes that computes everything before its use.
#pragma once

#include <functional>
#include <span>

#include "ir/graph.h"

namespace camshaft::api {

// The nodes that stay beside a node, itself among them, in their order; none: it is alone.
using NodeGroup = std::function<std::span<Node* const>(const Node*)>;

// Restores it after edits, moving as little as possible. Throws where nodes need one another.
void sortNodes(Graph& graph, const NodeGroup& groupOf = {});

}  // namespace camshaft::api
