// CSE: two nodes that compute the same from the same inputs become one, and equal constants too.
//
//   %a = Pointwise(%x) {sqrt}            %a = Pointwise(%x) {sqrt}
//   %b = Pointwise(%x) {sqrt}       →
//   %y = Pointwise(%a, %b) {add}         %y = Pointwise(%a, %a) {add}
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

static std::string_view textOf(const Value& constant) {
  const auto bytes = constant.constant->bytes;
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Weights of one shape differ at once, so that reading where they begin is enough.
static bool mergeConstants(Graph& graph) {
  constexpr size_t kBeginning = 4096;
  std::map<std::tuple<DataType, std::string, std::string_view>, std::vector<Value*>> alike;
  bool changed = false;
  for (Value* value : graph.values()) {  // by name, so that the same one is kept in every build
    if (!value->isConstant() || value->isOpaque()) continue;
    const std::string_view text = textOf(*value);
    std::vector<Value*>& firsts =
        alike[{value->dataType(), toString(value->shape()), text.substr(0, kBeginning)}];
    const auto equal =
        std::ranges::find_if(firsts, [&](const Value* first) { return textOf(*first) == text; });
    if (equal == firsts.end()) {
      firsts.push_back(value);
    } else if (graph.hasUses(value)) {
      graph.replaceUses(value, *equal);
      changed = true;
    }
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
