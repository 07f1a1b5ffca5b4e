#include "api/lowering/region.h"

#include "api/lowering/placeholders.h"
#include "ops/symbols.h"

namespace camshaft::api {

Flow::Flow(const Graph& graph) : graph_(graph) {
  for (const auto& node : graph.nodes()) {
    for (const std::string& symbol : symbolsRead(*node)) readers_[symbol].push_back(node.get());
    for (const std::string& symbol : symbolsDefined(*node)) definers_[symbol] = node.get();
  }
}

NodeSet Flow::followers(const std::vector<Node*>& begin, const std::vector<Node*>& ends) const {
  NodeSet found;
  const NodeSet stop(ends.begin(), ends.end());
  std::vector<const Node*> pending(begin.begin(), begin.end());
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (stop.contains(node) || !found.insert(node).second) continue;
    for (const Value* output : node->outputs)
      pending.insert(pending.end(), output->users.begin(), output->users.end());
    for (const std::string& symbol : symbolsDefined(*node))
      if (const auto it = readers_.find(symbol); it != readers_.end())
        pending.insert(pending.end(), it->second.begin(), it->second.end());
    if (node->op == &placeholders::Next) pending.push_back(node->input(0)->producer);
  }
  return found;
}

std::vector<Node*> Flow::needed(const NodeSet& region, const std::vector<Value*>& values) const {
  NodeSet found;
  std::vector<const Node*> pending;
  for (const Value* value : values) pending.push_back(value->producer);
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!node || !region.contains(node) || !found.insert(node).second) continue;
    for (const Value* input : node->inputs)
      if (input) pending.push_back(input->producer);
    for (const std::string& symbol : symbolsRead(*node))
      if (const auto it = definers_.find(symbol); it != definers_.end())
        pending.push_back(it->second);
  }
  return inOrder(found);
}

std::vector<Node*> Flow::inOrder(const NodeSet& region) const {
  std::vector<Node*> nodes;
  for (const auto& node : graph_.nodes())
    if (region.contains(node.get())) nodes.push_back(node.get());
  return nodes;
}

}  // namespace camshaft::api
