#include "passes/edit.h"

#include <algorithm>

#include "ir/rewrite.h"

namespace camshaft {

void replaceValue(Graph& graph, Value* from, Value* to) {
  const std::string name = from->name;
  if (to->producer) mergeOrigins(to->producer, from->producer);
  graph.replaceUses(from, to);
  graph.eraseIfDead(from->producer);
  const bool isInput = std::find(graph.inputs.begin(), graph.inputs.end(), to) != graph.inputs.end();
  if (!isInput && !graph.find(name)) graph.rename(to, name);  // users call inputs by their names
}

Node* soleUser(const Graph& graph, const Value* value) {
  if (value->users.empty() || graph.isOutput(value)) return nullptr;
  Node* user = value->users.front();
  const bool alone = std::all_of(value->users.begin(), value->users.end(), [&](Node* n) { return n == user; });
  return alone ? user : nullptr;
}

}  // namespace camshaft
