// Scalar constants become part of the expression, and the expression is simplified.
//
//   %y = Pointwise(%x, %half, %two) {mul(pow(x0, x2), x1)}   with scalars half = 0.5, two = 2
//   →
//   %y = Pointwise(%x) {mul(mul(x0, x0), 0.5)}
//
// A constant tensor whose elements are all equal counts as a scalar where another input already
// has the full shape.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/passes.h"

namespace camshaft {

// The expression that is just the constant's element.
static BoundExpr elementOf(const Value& constant) {
  BoundExpr element;
  const void* data = constant.constant->bytes.data();
  if (isFloat(constant.dataType()))
    element.expr.constant(readElement(constant.dataType(), data, 0), constant.dataType());
  else
    element.expr.constantInteger(readInteger(constant.dataType(), data, 0), constant.dataType());
  return element;
}

// The shape does not need this input: the others broadcast to it by themselves.
static bool shapeStandsWithout(const std::vector<Value*>& inputs, const Value* without,
                               const Node& node) {
  std::vector<Value*> others;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(others),
               [&](const Value* input) { return input != without; });
  return !others.empty() && broadcastShape(others, node.name) == node.output()->shape();
}

static bool simplifyNode(Graph& graph, Node* node) {
  const BoundExpr before = boundExpr(*node);
  BoundExpr bound = before;
  for (const Value* input : before.inputs) {
    if (!isScalarConstant(input) || !shapeStandsWithout(bound.inputs, input, *node)) continue;
    bound = substituted(bound, input, elementOf(*input));
    bound = simplified(bound);
  }
  bound = simplified(bound);
  return bound != before && rewritePointwise(graph, node, bound);
}

bool simplifyPointwise(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Pointwise && !node->epilogue) changed |= simplifyNode(graph, node);
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
