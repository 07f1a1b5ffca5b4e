// Nodes whose results nobody reads go, with the constants and symbols only they used.
//
//   %a = Pointwise(%x) {relu}    // no reader
//   BindDims(%n) {k}             // k in no shape or attribute
//   →  (nothing)
#include <algorithm>
#include <set>

#include "ops/shape.h"
#include "ops/symbols.h"
#include "passes/passes.h"

namespace camshaft {

// Symbols that some shape, attribute or condition still mentions.
static std::set<std::string> symbolsInUse(const Graph& graph) {
  std::set<std::string> names;
  for (const Value* value : graph.values())
    if (graph.hasUses(value))
      for (const Dim& dim : value->shape()) collectSymbols(dim, names);
  for (const auto& node : graph.nodes()) names.merge(symbolsRead(*node));
  for (const auto& [text, condition] : graph.conditions) {
    collectSymbols(condition.a, names);
    collectSymbols(condition.b, names);
  }
  return names;
}

// What bounds are computed from stays declared, also where nothing gives it a value.
static std::set<std::string> symbolsInBounds(const Graph& graph) {
  std::set<std::string> names;
  for (const auto& [name, info] : graph.symbols)
    if (info.upper) collectSymbols(*info.upper, names);
  return names;
}

static bool isRead(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](const Value* output) { return graph.hasUses(output); });
}

static bool removeUnread(Graph& graph) {
  const std::vector<Node*> nodes = graph.nodeList();
  bool changed = false;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {  // readers before what they read
    Node* node = *it;
    if (isRead(graph, *node) || !symbolsDefined(*node).empty()) continue;
    graph.erase(node);
    changed = true;
  }
  return changed;
}

// Nodes that nobody reads go when nobody uses the symbols they define either.
static bool removeUnusedBindings(Graph& graph) {
  bool changed = false;
  std::set<std::string> inUse, bounds;
  bool collected = false;
  for (Node* node : graph.nodeList()) {
    const std::set<std::string> defined = symbolsDefined(*node);
    if (defined.empty() || isRead(graph, *node) || isAssertion(graph, *node)) continue;
    if (!collected) {
      inUse = symbolsInUse(graph);
      bounds = symbolsInBounds(graph);
      collected = true;
    }
    if (std::any_of(defined.begin(), defined.end(),
                    [&](const auto& name) { return inUse.contains(name); }))
      continue;
    for (const std::string& name : defined)
      if (!bounds.contains(name)) graph.symbols.erase(name);
    graph.erase(node);
    changed = true;
  }
  return changed;
}

bool removeDead(Graph& graph, const PassOptions&) {
  bool changed = false;
  while (removeUnread(graph) || removeUnusedBindings(graph)) changed = true;
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
