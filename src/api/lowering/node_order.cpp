#include "api/lowering/node_order.h"

#include <algorithm>
#include <unordered_map>

#include "ops/symbols.h"

namespace camshaft::api {

void sortNodes(Graph& graph, const NodeGroup& groupOf) {
  std::unordered_map<std::string, Node*> binder;
  for (const auto& node : graph.nodes())
    for (const std::string& symbol : symbolsDefined(*node)) binder[symbol] = node.get();
  std::vector<Node*> order;
  std::unordered_map<const Node*, bool> isPlaced;  // false: what its group needs is being placed
  const std::function<void(Node*)> place = [&](Node* node) {
    if (!node) return;
    if (const auto known = isPlaced.find(node); known != isPlaced.end()) {
      if (known->second) return;
      fail(ErrorKind::kInvalidArgument, "layer '", node->name,
           "' reads what is computed from its own output");
    }
    std::span<Node* const> group = groupOf ? groupOf(node) : std::span<Node* const>();
    if (group.empty()) group = {&node, 1};
    const auto needs = [&](Node* other) {
      if (std::find(group.begin(), group.end(), other) == group.end()) place(other);
    };
    for (const Node* one : group) isPlaced[one] = false;
    for (const Node* one : group) {
      for (const Value* input : one->inputs)
        if (input) needs(input->producer);
      for (const std::string& symbol : symbolsRead(*one))
        if (const auto it = binder.find(symbol); it != binder.end()) needs(it->second);
    }
    for (Node* one : group) {
      isPlaced[one] = true;
      order.push_back(one);
    }
  };
  for (Node* node : graph.nodeList()) place(node);
  for (Node* node : order) graph.moveBefore(node, nullptr);
}

}  // namespace camshaft::api
