// Normalisations compute what they normalise.
//
//   %s = Pointwise(%x, %r) {add(x0, x1)}          // read by others too
//   %y = LayerNorm(%s, %scale, %bias)
//   →
//   %y, %s = PointwiseNorm(%x, %r, %scale, %bias) {add(x0, x1)}
//
// and, in quantised graphs, store the bytes as well where others read what is quantised:
//
//   %y = LayerNorm(%x, %scale, %bias)             // read by others too
//   %q = Pointwise(%y) {cast(div(x0, 0.1), f8e4m3)}
//   →
//   %q, %y = PointwiseNorm(%x, %scale, %bias) {x0} epilogue {cast(div(x0, 0.1), f8e4m3)}
//
// After fuse_epilogues, which prefers to put such a sum on the product that feeds it. The fused
// node stands where the Pointwise stood.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/quantisation.h"

namespace camshaft {

// What a kernel reads at once for each element of a row.
constexpr size_t kMaxOperands = 8;

static bool isComputedBefore(const Value* value, const Node* node, const NodeOrder& order) {
  return !value || !value->producer || order.at(value->producer) < order.at(node);
}

static bool canFuse(const Node& pointwise, const Node& norm, const NodeOrder& order) {
  if (pointwise.inputs.size() > kMaxOperands || !isFloat(pointwise.output()->dataType()))
    return false;
  const auto reads = std::count(norm.inputs.begin(), norm.inputs.end(), pointwise.output());
  return reads == 1 && std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), [&](const Value* v) {
           return isComputedBefore(v, &pointwise, order);
         });
}

// What a norm is, as a PointwiseNorm.
static PointwiseNormAttrs asPointwiseNorm(const Node& norm) {
  if (norm.op == &ops::PointwiseNorm) return norm.as<PointwiseNormAttrs>();
  const auto& plain = norm.as<LayerNormAttrs>();
  PointwiseNormAttrs attrs;
  attrs.expr.input(0, norm.input(0)->dataType());
  attrs.axis = plain.axis;
  attrs.epsilon = plain.epsilon;
  attrs.rms = plain.rms;
  return attrs;
}

// A second output takes the value's place.
static Node* addFused(Graph& graph, Node* pointwise, const Node* norm, bool keepsValue) {
  PointwiseNormAttrs attrs = asPointwiseNorm(*norm);
  attrs.expr = pointwise->as<PointwiseAttrs>().expr;
  attrs.keepsValue = keepsValue;
  std::vector<Value*> inputs = pointwise->inputs;
  inputs.insert(inputs.end(), norm->inputs.begin() + 1, norm->inputs.begin() + norm->ownInputs());
  const auto firstInput = static_cast<int>(inputs.size());
  Node* fused = graph.add(&ops::PointwiseNorm, norm->name, std::move(inputs), std::move(attrs),
                          pointwise, keepsValue ? 2 : 1);
  if (norm->epilogue) {
    fused->epilogue = Epilogue{norm->epilogue->expr, firstInput};
    for (int i = norm->ownInputs(); i < static_cast<int>(norm->inputs.size()); ++i)
      graph.addInputTo(fused, norm->inputs[i]);
    graph.inferTypes(fused);
  }
  return fused;
}

static void fuse(Graph& graph, Node* pointwise, Node* norm, NodeOrder& order) {
  Value* value = pointwise->output();
  const bool keepsValue = soleUser(graph, value) != norm;
  Node* fused = addFused(graph, pointwise, norm, keepsValue);
  order[fused] = order.at(pointwise);
  mergeOrigins(fused, pointwise);
  replaceValue(graph, norm->output(), fused->output(0));
  if (keepsValue) replaceValue(graph, value, fused->output(1));
}

// The Pointwise that quantises a value of which others want more.
static Node* quantiserOf(const Value* value) {
  for (Node* user : value->users)
    if (user->op == &ops::Pointwise && !user->epilogue && user->inputs.size() == 1 &&
        isOfEightBits(user->output()))
      return user;
  return nullptr;
}

static bool fuseQuantiser(Graph& graph, Node* norm) {
  Value* result = norm->output(0);
  Node* quantiser = norm->epilogue ? nullptr : quantiserOf(result);
  if (!quantiser) return false;
  PointwiseNormAttrs attrs = asPointwiseNorm(*norm);
  attrs.keepsResult = true;
  const PointwiseNormAttrs kept = attrs;
  Node* fused = graph.add(&ops::PointwiseNorm, norm->name, norm->inputs, std::move(attrs), norm,
                          kept.outputs());
  fused->epilogue =
      Epilogue{quantiser->as<PointwiseAttrs>().expr, static_cast<int>(norm->inputs.size())};
  graph.inferTypes(fused);
  mergeOrigins(fused, norm);
  mergeOrigins(fused, quantiser);
  replaceValue(graph, quantiser->output(), fused->output(0));
  const std::string valueName = kept.keepsValue ? norm->output(kept.valueOutput())->name : "";
  if (kept.keepsValue)
    replaceValue(graph, norm->output(kept.valueOutput()), fused->output(kept.valueOutput()));
  replaceValue(graph, result, fused->output(kept.resultOutput()));
  if (kept.keepsValue) graph.rename(fused->output(kept.valueOutput()), valueName);  // free now
  return true;
}

bool fuseNorms(Graph& graph, const PassOptions& options) {
  if (!options.fusion.pointwiseNorms) return false;
  NodeOrder order = orderOf(graph);
  bool changed = false;
  for (Node* norm : graph.nodeList()) {  // erases this node and the Pointwise before it
    if (norm->op != &ops::LayerNorm) continue;
    Node* pointwise = producerOf(norm->input(0), &ops::Pointwise);
    if (!pointwise || !canFuse(*pointwise, *norm, order)) continue;
    fuse(graph, pointwise, norm, order);
    changed = true;
  }
  if (!options.fusion.bytesFromAnywhere) return changed;
  std::vector<Node*> norms = graph.nodeList();  // alone: quantisers go
  std::erase_if(norms, [](const Node* node) {
    return node->op != &ops::LayerNorm && node->op != &ops::PointwiseNorm;
  });
  for (Node* norm : norms) changed |= fuseQuantiser(graph, norm);
  return changed;
}

}  // namespace camshaft
