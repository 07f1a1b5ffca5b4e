// Bodies of branches and loops get less from outside, and give less.
//
//   captures that are constants         →  constants of the body
//   captures that the body does not use →  (nothing)
//   carried values that never change    →  captures; who reads the result reads the first value
//   scan outputs that nobody reads      →  (nothing)
#include <algorithm>

#include "ops/control_flow.h"
#include "ops/symbols.h"
#include "passes/passes.h"

namespace camshaft {

static constexpr size_t kLoopOwnInputs = 2;

// Whether every symbol of the input's sizes has a value without it.
static bool bindsNothing(const Graph& body, const Value* input) {
  std::set<std::string> own, others;
  for (const Dim& dim : input->shape()) collectSymbols(dim, own);
  for (const Value* other : body.inputs)
    if (other != input)
      for (const Dim& dim : other->shape()) collectSymbols(dim, others);
  return std::includes(others.begin(), others.end(), own.begin(), own.end());
}

// The body with a constant instead of an input.
static void takeConstant(Graph& body, Value* input, const Value& constant) {
  std::map<std::string, Dim> sizes;
  for (size_t d = 0; d < input->shape().size(); ++d)
    if (input->shape()[d].isSymbol())
      sizes.emplace(input->shape()[d].symbolName(), constant.shape()[d]);
  if (!sizes.empty())
    substituteSymbols(body, [&](const std::string& name) {
      const auto it = sizes.find(name);
      return it == sizes.end() ? Dim::symbol(name) : it->second;
    });
  for (const auto& [name, size] : sizes) body.symbols.erase(name);
  body.replaceUses(input, body.addConstant(input->name, constant.type, constant.constant));
  body.inferAllTypes();
  body.removeInput(input);
}

static bool simplifyCaptures(Graph& graph, Node* node) {
  const bool isLoop = node->op == &ops::Loop;
  const size_t firstCapture =
      isLoop ? kLoopOwnInputs + static_cast<size_t>(node->as<LoopAttrs>().carried) : 0;
  const size_t ownInputs = isLoop ? firstCapture : 1;
  std::vector<Value*> inputs(node->inputs.begin(),
                             node->inputs.begin() + static_cast<std::ptrdiff_t>(ownInputs));
  size_t next = ownInputs;
  for (BodyPtr* slot : bodiesOf(*node)) {
    Graph body = (*slot)->clone();
    const std::vector<Value*> captures(
        body.inputs.begin() + static_cast<std::ptrdiff_t>(firstCapture), body.inputs.end());
    bool changed = false;
    for (Value* capture : captures) {
      Value* outside = node->inputs[next++];
      const bool isUnused = !body.hasUses(capture) && bindsNothing(body, capture);
      if (isUnused)
        body.removeInput(capture);
      else if (outside->isConstant())
        takeConstant(body, capture, *outside);
      else
        inputs.push_back(outside);
      changed |= isUnused || outside->isConstant();
    }
    if (changed) *slot = std::make_shared<const Graph>(std::move(body));
  }
  if (inputs.size() == node->inputs.size()) return false;
  graph.setInputs(node, std::move(inputs));
  return true;
}

// A carried value that leaves the body as it came.
static bool isInvariant(const Graph& body, size_t carried) {
  return body.outputs[1 + carried].value == body.inputs[kLoopOwnInputs + carried];
}

// The symbols that are asked for, wherever they come from.
static std::set<std::string> symbolsNeeded(const Graph& graph) {
  std::set<std::string> names;
  for (const Value* value : graph.values())
    if (graph.hasUses(value))
      for (const Dim& dim : value->shape()) collectSymbols(dim, names);
  for (const auto& node : graph.nodes())
    if (!hasBodies(*node)) names.merge(symbolsRead(*node));
  for (const auto& [name, info] : graph.symbols)
    if (info.upper) collectSymbols(*info.upper, names);
  return names;
}

// Nobody reads the scan output, nor asks for a size that only it has.
static bool isUnneeded(const Graph& graph, const Node& node, size_t output) {
  const Value* value = node.outputs[output];
  if (graph.hasUses(value)) return false;
  std::set<std::string> decided;
  for (const Dim& dim : value->shape()) collectSymbols(dim, decided);
  const std::set<std::string> defined = symbolsDefined(node), needed = symbolsNeeded(graph);
  return std::none_of(decided.begin(), decided.end(), [&](const std::string& name) {
    return defined.contains(name) && needed.contains(name);
  });
}

// The loop without some of its outputs, or `node` when it needs them all.
static Node* withoutOutputs(Graph& graph, Node* node) {
  const auto& attrs = node->as<LoopAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried);
  std::vector<bool> dropped;
  for (size_t i = 0; i < node->outputs.size(); ++i)
    dropped.push_back(i < carried ? isInvariant(*attrs.body, i) : isUnneeded(graph, *node, i));
  if (std::find(dropped.begin(), dropped.end(), true) == dropped.end()) return node;
  Graph body = attrs.body->clone();
  LoopAttrs kept;
  kept.symbols = attrs.symbols;
  std::vector<Value*> inputs(node->inputs.begin(), node->inputs.begin() + kLoopOwnInputs);
  std::vector<Value*> bodyInputs(body.inputs.begin(), body.inputs.begin() + kLoopOwnInputs);
  std::vector<Graph::Output> outputs{body.outputs[0]};
  std::vector<Value*> old;
  size_t size = 0;
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    const auto begin = attrs.sizes.begin() + static_cast<std::ptrdiff_t>(size);
    size += node->outputs[i]->shape().size();
    if (dropped[i]) continue;
    kept.sizes.insert(kept.sizes.end(), begin,
                      attrs.sizes.begin() + static_cast<std::ptrdiff_t>(size));
    outputs.push_back(body.outputs[1 + i]);
    old.push_back(node->outputs[i]);
    if (i >= carried) continue;
    inputs.push_back(node->inputs[kLoopOwnInputs + i]);
    bodyInputs.push_back(body.inputs[kLoopOwnInputs + i]);
    ++kept.carried;
  }
  for (size_t i = kLoopOwnInputs; i < body.inputs.size(); ++i) {
    const size_t position = i - kLoopOwnInputs;
    if (position < carried && !dropped[position]) continue;
    inputs.push_back(node->inputs[i]);
    bodyInputs.push_back(body.inputs[i]);
  }
  std::erase_if(kept.symbols, [&](const Dim& symbol) {
    const bool isGone = std::find(kept.sizes.begin(), kept.sizes.end(), symbol) == kept.sizes.end();
    if (isGone) graph.symbols.erase(symbol.symbolName());
    return isGone;
  });
  body.inputs = std::move(bodyInputs);
  body.setOutputs(std::move(outputs));
  kept.body = std::make_shared<const Graph>(std::move(body));

  for (size_t i = 0; i < carried; ++i)
    if (dropped[i]) graph.replaceUses(node->outputs[i], node->inputs[kLoopOwnInputs + i]);
  Node* smaller = graph.add(&ops::Loop, node->name, std::move(inputs), std::move(kept), node,
                            static_cast<int>(old.size()));
  smaller->origins = node->origins;
  for (size_t i = 0; i < old.size(); ++i) graph.replaceUses(old[i], smaller->outputs[i]);
  std::vector<std::string> names;
  for (const Value* value : old) names.push_back(value->name);
  graph.erase(node);
  for (size_t i = 0; i < names.size(); ++i) graph.rename(smaller->outputs[i], names[i]);
  return smaller;
}

bool simplifyBodies(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (!hasBodies(*node)) continue;
    if (node->op == &ops::Loop) {
      Node* smaller = withoutOutputs(graph, node);
      changed |= smaller != node;
      node = smaller;
    }
    changed |= simplifyCaptures(graph, node);
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
