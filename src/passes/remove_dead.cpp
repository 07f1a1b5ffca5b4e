// Nodes whose results nobody reads go, with the constants and symbols only they used.
//
//   %a = Pointwise(%x) {relu}    // no reader
//   BindDims(%n) {k}             // k in no shape or attribute
//   →  (nothing)
#include <unordered_map>
#include <unordered_set>

#include "ops/observe.h"
#include "ops/shape.h"
#include "ops/symbols.h"
#include "passes/passes.h"

namespace camshaft {
namespace {

// What the outputs of a graph, observers, assertions and conditions are computed from. A node that
// defines symbols is needed by whoever mentions them.
class Needed {
 public:
  explicit Needed(const Graph& graph) {
    for (const auto& node : graph.nodes())
      for (const std::string& name : symbolsDefined(*node)) definers_.emplace(name, node.get());
    for (const auto& node : graph.nodes())
      if (node->op == &ops::Observe || isAssertion(graph, *node) || namesInput(*node))
        addNode(node.get());
    for (const auto& output : graph.outputs) addValue(output.value);
    for (const auto& [text, condition] : graph.conditions) addShape({condition.a, condition.b});
    while (!open_.empty()) {
      const Node* node = open_.back();
      open_.pop_back();
      for (const Value* input : node->inputs)
        if (input) addValue(input);
      for (const Value* output : node->outputs) addShape(output->shape());
      for (const std::string& name : symbolsRead(*node)) addSymbol(name);
    }
  }

  bool contains(const Node* node) const { return nodes_.contains(node); }

 private:
  // What gives the values of an input their names, which its contents mention.
  static bool namesInput(const Node& node) {
    return node.op == &ops::BindDims && !node.input(0)->producer && node.input(0)->contents;
  }
  void addNode(const Node* node) {
    if (nodes_.insert(node).second) open_.push_back(node);
  }
  void addValue(const Value* value) {
    if (value->producer) addNode(value->producer);
    addShape(value->shape());
  }
  void addShape(const Shape& shape) {
    std::set<std::string> names;
    for (const Dim& dim : shape) collectSymbols(dim, names);
    for (const std::string& name : names) addSymbol(name);
  }
  void addSymbol(const std::string& name) {
    if (const auto definer = definers_.find(name); definer != definers_.end())
      addNode(definer->second);
  }

  std::unordered_map<std::string, const Node*> definers_;
  std::unordered_set<const Node*> nodes_;
  std::vector<const Node*> open_;  // of nodes_, whose inputs were not looked at yet
};

// What bounds are computed from stays declared, also where nothing gives it a value.
std::set<std::string> symbolsInBounds(const Graph& graph) {
  std::set<std::string> names;
  for (const auto& [name, info] : graph.symbols)
    if (info.upper) collectSymbols(*info.upper, names);
  return names;
}

}  // namespace

bool removeDead(Graph& graph, const PassOptions&) {
  const Needed needed(graph);
  const std::set<std::string> bounds = symbolsInBounds(graph);
  const std::vector<Node*> nodes = graph.nodeList();
  bool changed = false;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {  // readers before what they read
    if (needed.contains(*it)) continue;
    for (const std::string& name : symbolsDefined(**it))
      if (!bounds.contains(name)) graph.symbols.erase(name);
    graph.erase(*it);
    changed = true;
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
