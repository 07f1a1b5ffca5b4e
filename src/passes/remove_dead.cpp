// Nodes whose results nobody reads go, with the constants and symbols only they used.
//
//   %a = Pointwise(%x) {relu}    // no reader
//   BindDims(%n) {k}             // k in no shape or attribute
//   →  (nothing)
#include <set>

#include "ops/ops.h"
#include "ops/shape.h"
#include "ops/symbols.h"
#include "passes/passes.h"

namespace camshaft {

// Symbols that some shape or attribute still mentions.
static std::set<std::string> symbolsInUse(const Graph& graph) {
  std::set<std::string> names;
  for (const Value* value : graph.values())
    for (const Dim& dim : value->shape()) collectSymbols(dim, names);
  for (const auto& node : graph.nodes()) names.merge(symbolsRead(*node));
  return names;
}

// What bounds are computed from stays declared, also where nothing gives it a value.
static std::set<std::string> symbolsInBounds(const Graph& graph) {
  std::set<std::string> names;
  for (const auto& [name, info] : graph.symbols)
    if (info.upper) collectSymbols(*info.upper, names);
  return names;
}

static bool bindsAny(const Node& node, const std::set<std::string>& symbols) {
  for (const Dim& symbol : node.as<BindDimsAttrs>().symbols)
    if (symbols.contains(symbol.symbolName())) return true;
  return false;
}

static bool removeUnread(Graph& graph) {
  const std::vector<Node*> nodes = graph.nodeList();
  bool changed = false;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {  // readers before what they read
    Node* node = *it;
    bool used = node->outputs.empty();
    for (const Value* output : node->outputs) used |= graph.hasUses(output);
    if (used) continue;
    graph.erase(node);
    changed = true;
  }
  return changed;
}

static bool removeUnusedBindings(Graph& graph) {
  bool changed = false;
  std::set<std::string> inUse, bounds;
  bool collected = false;
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::BindDims) continue;
    if (!collected) {
      inUse = symbolsInUse(graph);
      bounds = symbolsInBounds(graph);
      collected = true;
    }
    if (bindsAny(*node, inUse)) continue;
    for (const Dim& symbol : node->as<BindDimsAttrs>().symbols)
      if (!bounds.contains(symbol.symbolName())) graph.symbols.erase(symbol.symbolName());
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
