// Pointwise nodes that feed one another become one node with the combined expression.
//
//   %a = Pointwise(%x, %y) {add(x0, x1)}
//   %b = Pointwise(%a) {relu(x0)}             // the only reader of a
//   →
//   %b = Pointwise(%x, %y) {relu(add(x0, x1))}
//
// Only producers of the full result shape fuse: a smaller one would be computed again for every
// element it is broadcast to. The fused node stands where the reader stood, which is always legal.
#include "ir/rewrite.h"
#include "ops/ops.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

// Bounds on one expression: its tile's temporaries should stay in the first-level cache.
constexpr size_t kMaxFusedInstructions = 64;
constexpr size_t kMaxInputs = 8;

static bool isPointwise(const Node* node) {
  return node && node->op == &ops::Pointwise && !node->epilogue;
}

static bool fuseProducer(Graph& graph, Node* node, Value* input) {
  Node* producer = input->producer;
  if (!isPointwise(producer) || soleUser(graph, input) != node) return false;
  if (input->shape() != node->output()->shape()) return false;
  const BoundExpr fused = simplified(substituted(boundExpr(*node), input, boundExpr(*producer)));
  if (fused.expr.code().size() > kMaxFusedInstructions || fused.inputs.size() > kMaxInputs)
    return false;
  if (!rewritePointwise(graph, node, fused)) return false;
  mergeOrigins(node, producer);
  graph.eraseIfDead(producer);
  return true;
}

static bool fuseAnyProducer(Graph& graph, Node* node) {
  for (Value* input : std::vector<Value*>(node->inputs))
    if (fuseProducer(graph, node, input)) return true;
  return false;
}

bool fusePointwise(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {  // producers come first, so erased ones were visited
    if (!isPointwise(node)) continue;
    while (fuseAnyProducer(graph, node)) changed = true;
  }
  return changed;
}

}  // namespace camshaft
