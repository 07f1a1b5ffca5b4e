#include "passes/edit.h"

#include <algorithm>
#include <set>
#include <string>

#include "ir/rewrite.h"
#include "ops/evaluate.h"
#include "ops/move.h"
#include "ops/symbols.h"

namespace camshaft {

void replaceValue(Graph& graph, Value* from, Value* to) {
  const std::string name = from->name;
  if (to->producer) mergeOrigins(to->producer, from->producer);
  graph.replaceUses(from, to);
  graph.eraseIfDead(from->producer);
  const bool isInput = !to->producer && !to->isConstant();
  if (!isInput && !graph.find(name)) graph.rename(to, name);  // users call inputs by their names
}

Value* foldNow(Graph& graph, Node* node) {
  std::vector<ConstTensorView> inputs;
  for (const Value* input : node->inputs) inputs.push_back(input->view());
  std::vector<HostTensor> results =
      evaluateNode(*node, inputs, [&](const std::string& symbol) -> int64_t {
        CAMSHAFT_CHECK(false, describe(*node), " reads the dimension ", symbol,
                       " while it is folded");
      });
  const TensorType type = node->output()->type;
  const std::string name = node->inputs[0]->name;
  const bool isOpaque = readsOpaque(*node);
  graph.erase(node);
  return graph.addConstant(name, type, ConstantData::own(std::move(results[0].bytes), isOpaque));
}

Value* joinNow(Graph& graph, const std::vector<Value*>& constants, int64_t axis, Node* before) {
  ConcatAttrs attrs;
  attrs.axis = axis;
  return foldNow(graph, graph.add(&ops::Concat, constants[0]->name, constants, attrs, before));
}

Value* addReshape(Graph& graph, const std::string& name, Value* x, Shape shape, Node* before) {
  if (x->shape() == shape) return x;
  ReshapeAttrs attrs;
  attrs.shape = std::move(shape);
  return graph.add(&ops::Reshape, name, {x}, std::move(attrs), before)->output();
}

bool isIndex(const Value* value) {
  const DataType type = value->dataType();
  return type == DataType::kI64 || type == DataType::kI32 || type == DataType::kBool;
}

Node* soleUser(const Graph& graph, const Value* value) {
  if (value->users.empty() || graph.isOutput(value)) return nullptr;
  Node* user = value->users.front();
  const bool alone =
      std::all_of(value->users.begin(), value->users.end(), [&](Node* n) { return n == user; });
  return alone ? user : nullptr;
}

const PadAttrs* rollOf(const Node* node) {
  if (!node || node->op != &ops::Pad || node->epilogue) return nullptr;
  const auto& attrs = node->as<PadAttrs>();
  const bool rolls =
      attrs.mode == PadMode::kWrap && node->input(0)->shape() == node->output()->shape();
  return rolls ? &attrs : nullptr;
}

bool knowsSizesWith(const Graph& graph, const Node& node, const Value* value) {
  std::set<std::string> others = symbolsRead(node), known;
  for (const Dim& dim : value->shape()) collectSymbols(dim, known);
  std::erase_if(others, [&](const std::string& name) { return known.contains(name); });
  return others.empty() || std::ranges::none_of(graph.nodes(), [&](const auto& each) {
           return std::ranges::any_of(symbolsDefined(*each), [&](const std::string& name) {
             return others.contains(name);
           });
         });
}

NodeOrder orderOf(const Graph& graph) {
  NodeOrder order;
  for (const auto& node : graph.nodes()) order.emplace(node.get(), order.size());
  return order;
}

}  // namespace camshaft
