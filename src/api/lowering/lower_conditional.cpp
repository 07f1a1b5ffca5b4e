// A conditional as an If: what its inputs lead to, in the branch that needs it.
#include <algorithm>

#include "api/lowering/body.h"
#include "api/lowering/lower.h"
#include "api/lowering/placeholders.h"
#include "ops/control_flow.h"

namespace camshaft::api {

namespace {

// Nodes without outputs, bindings and assertions, go where everything they read is.
void addControls(const Flow& flow, const NodeSet& region, std::vector<Node*>& branch) {
  NodeSet members(branch.begin(), branch.end());
  const size_t before = members.size();
  for (Node* node : flow.inOrder(region)) {
    if (!node->outputs.empty()) continue;
    const bool fits = std::all_of(node->inputs.begin(), node->inputs.end(), [&](const Value* v) {
      return !v || !region.contains(v->producer) || members.contains(v->producer);
    });
    if (fits) members.insert(node);
  }
  if (members.size() > before) branch = flow.inOrder(members);
}

struct Branch {
  BodyPtr body;
  std::vector<Value*> captured;
};

Branch branchOf(Graph& graph, const Flow& flow, const FlatBlock& block, const NodeSet& region,
                int side) {
  std::vector<Value*> results;
  for (const Node* exit : block.exits) results.push_back(exit->input(side));
  std::vector<Node*> nodes = flow.needed(region, results);
  addControls(flow, region, nodes);
  Body body(graph, str(block.name, side == 0 ? ".then" : ".else"));
  body.capture(region, nodes, results);
  body.copy(nodes);
  std::vector<Value*> outputs;
  for (const Value* result : results) outputs.push_back(body.inside(result));
  Branch branch{body.finish(outputs), {}};
  branch.captured = body.captured();
  return branch;
}

// Of a size that differs between the branches: it is no more than the larger one.
void boundSize(Graph& graph, const std::set<std::string>& inner, const Dim& size, const Dim& a,
               const Dim& b) {
  std::set<std::string> names;
  collectSymbols(a, names);
  collectSymbols(b, names);
  const bool isKnownOutside = std::none_of(names.begin(), names.end(),
                                           [&](const auto& name) { return inner.contains(name); });
  if (!isKnownOutside || (a.isConstant() && b.isConstant())) return;
  graph.symbols.at(size.symbolName()).upper = max(a, b);
}

}  // namespace

std::vector<Value*> lowerConditional(Graph& graph, const Flow& flow, const FlatBlock& block,
                                     const NodeSet& region) {
  const std::vector<Node*> conditions = block.of(&placeholders::Condition);
  if (conditions.empty())
    fail(ErrorKind::kInvalidArgument, block.who(),
         " has no condition; give it one with setCondition");
  if (block.exits.empty())
    fail(ErrorKind::kInvalidArgument, block.who(), " has no output; add one with addOutput");
  Value* condition = conditions.front()->input(0);
  if (region.contains(condition->producer))
    fail(ErrorKind::kInvalidArgument, block.who(), " needs its condition from outside, and '",
         condition->name, "' is computed from its inputs");

  IfAttrs attrs;
  std::set<std::string> inner = symbolsDefinedIn(region);
  for (const Node* exit : block.exits) {
    const auto& symbols = exit->as<BoundaryAttrs>().symbols;
    const Shape &a = exit->input(0)->shape(), &b = exit->input(1)->shape();
    for (size_t d = 0; d < a.size(); ++d)
      if (const Dim& size = exit->output()->shape()[d];
          std::find(symbols.begin(), symbols.end(), size) != symbols.end())
        boundSize(graph, inner, size, a[d], b[d]);
    for (const Dim& symbol : symbols) inner.insert(symbol.symbolName());
  }
  for (const Node* exit : block.exits)
    recordSizes(block, inner, exit->output()->shape(), attrs.sizes, attrs.symbols);

  std::vector<Value*> operands{reshaped(graph, condition, {})};
  BodyPtr* bodies[] = {&attrs.thenBranch, &attrs.elseBranch};
  for (int side : {0, 1}) {
    Branch branch = branchOf(graph, flow, block, region, side);
    *bodies[side] = std::move(branch.body);
    operands.insert(operands.end(), branch.captured.begin(), branch.captured.end());
  }
  return graph
      .add(&ops::If, block.name, std::move(operands), std::move(attrs), nullptr,
           static_cast<int>(block.exits.size()))
      ->outputs;
}

}  // namespace camshaft::api
