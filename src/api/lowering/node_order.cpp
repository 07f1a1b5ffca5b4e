#include "api/lowering/node_order.h"

#include <functional>
#include <unordered_map>

#include "ops/symbols.h"

namespace camshaft::api {

void sortNodes(Graph& graph) {
  std::unordered_map<std::string, Node*> binder;
  for (const auto& node : graph.nodes())
    for (const std::string& symbol : symbolsDefined(*node)) binder[symbol] = node.get();
  std::vector<Node*> order;
  std::unordered_map<const Node*, bool> isPlaced;  // false: what it needs is being placed
  const std::function<void(Node*)> place = [&](Node* node) {
    if (!node) return;
    const auto [known, isNew] = isPlaced.try_emplace(node, false);
    if (!isNew && !known->second)
      fail(ErrorKind::kInvalidArgument, "layer '", node->name,
           "' reads what is computed from its own output");
    if (!isNew) return;
    for (const Value* input : node->inputs)
      if (input) place(input->producer);
    for (const std::string& symbol : symbolsRead(*node))
      if (const auto it = binder.find(symbol); it != binder.end()) place(it->second);
    isPlaced[node] = true;
    order.push_back(node);
  };
  for (Node* node : graph.nodeList()) place(node);
  for (Node* node : order) graph.moveBefore(node, nullptr);
}

}  // namespace camshaft::api
