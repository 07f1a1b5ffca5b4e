// CSE: two nodes that compute the same from the same inputs become one, and small equal constants
// too.
//
//   %a = Pointwise(%x) {sqrt}            %a = Pointwise(%x) {sqrt}
//   %b = Pointwise(%x) {sqrt}       →
//   %y = Pointwise(%a, %b) {add}         %y = Pointwise(%a, %a) {add}
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

// Weights are not compared: equal ones are rare and reading them all is slow.
constexpr size_t kMaxComparedBytes = 4096;

static bool mergeConstants(Graph& graph) {
  std::map<std::tuple<DataType, std::string, std::string_view>, Value*> first;
  bool changed = false;
  for (Value* value : graph.values()) {  // by name, so that the same one is kept in every build
    if (!value->isConstant() || value->isOpaque() ||
        value->constant->bytes.size() > kMaxComparedBytes)
      continue;
    const auto bytes = value->constant->bytes;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [it, isNew] =
        first.try_emplace({value->dataType(), toString(value->shape()), text}, value);
    if (isNew || !graph.hasUses(value)) continue;
    graph.replaceUses(value, it->second);
    changed = true;
  }
  return changed;
}

// Equal for nodes that compute the same.
using NodeKey = std::tuple<Op, std::vector<Value*>, std::string, int, std::string, size_t>;

static NodeKey keyOf(const Node& node) {
  return {node.op,
          node.inputs,
          toString(*node.attrs),
          node.epilogue ? node.epilogue->firstInput : -1,
          node.epilogue ? toString(node.epilogue->expr) : "",
          node.outputs.size()};
}

static bool mergeNodes(Graph& graph) {
  std::map<NodeKey, Node*> first;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (!symbolsDefined(*node).empty() || !bodiesOf(std::as_const(*node)).empty()) continue;
    if (node->op == &ops::Plugin) continue;  // objects have a state
    const auto [it, isNew] = first.try_emplace(keyOf(*node), node);
    if (isNew) continue;
    Node* kept = it->second;
    for (size_t i = 0; i < node->outputs.size(); ++i)
      graph.replaceUses(node->outputs[i], kept->outputs[i]);
    mergeOrigins(kept, node);
    graph.erase(node);
    changed = true;
  }
  return changed;
}

bool mergeCommon(Graph& graph, const PassOptions&) {
  const bool constants = mergeConstants(graph);
  graph.eraseUnusedConstants();
  return mergeNodes(graph) || constants;
}

}  // namespace camshaft
