// Which nodes belong to a block: what follows from its inputs, up to its outputs.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace camshaft::api {

using NodeSet = std::unordered_set<const Node*>;

// What follows from what in a flat graph: by values, by symbols, and from one iteration to the
// next. Valid until the graph changes.
class Flow {
 public:
  explicit Flow(const Graph& graph);

  // These nodes and whatever is computed from them, without what comes from `ends` on.
  NodeSet followers(const std::vector<Node*>& begin, const std::vector<Node*>& ends) const;
  // The nodes of the region that these values are computed from, in order.
  std::vector<Node*> needed(const NodeSet& region, const std::vector<Value*>& values) const;
  // The region in the order of the graph.
  std::vector<Node*> inOrder(const NodeSet& region) const;

 private:
  const Graph& graph_;
  std::unordered_map<std::string, std::vector<Node*>> readers_;  // of a symbol
  std::unordered_map<std::string, Node*> definers_;
};

}  // namespace camshaft::api
