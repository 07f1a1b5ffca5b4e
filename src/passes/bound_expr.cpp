#include "passes/bound_expr.h"

#include <numeric>

#include "ops/pointwise.h"

namespace camshaft {

BoundExpr boundExpr(const Node& pointwise) {
  return {pointwise.as<PointwiseAttrs>().expr, pointwise.inputs};
}

BoundExpr boundEpilogue(const Node& anchor) {
  BoundExpr bound;
  bound.inputs.push_back(anchor.output());
  if (!anchor.epilogue) {
    bound.expr.input(0, anchor.output()->dataType());
    return bound;
  }
  bound.expr = anchor.epilogue->expr;
  bound.inputs.insert(bound.inputs.end(), anchor.inputs.begin() + anchor.epilogue->firstInput,
                      anchor.inputs.end());
  return bound;
}

static std::vector<int> countingFrom(int first, size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

BoundExpr substituted(const BoundExpr& outer, const Value* value, const BoundExpr& inner) {
  BoundExpr result = outer;
  const size_t added = inner.inputs.size();
  for (size_t i = 0; i < result.inputs.size(); ++i) {
    if (result.inputs[i] != value) continue;
    result.expr = result.expr.composed(static_cast<int>(i), inner.expr, countingFrom(0, added),
                                       countingFrom(static_cast<int>(added), result.inputs.size()));
    result.inputs.insert(result.inputs.begin(), inner.inputs.begin(), inner.inputs.end());
    i += added;
  }
  return result;
}

Shape broadcastShape(const std::vector<Value*>& inputs, const std::string& who) {
  Shape shape;
  for (const Value* input : inputs) shape = broadcastShapes(shape, input->shape(), who);
  return shape;
}

bool rewritePointwise(Graph& graph, Node* node, const BoundExpr& bound) {
  if (bound.inputs.empty() || broadcastShape(bound.inputs, node->name) != node->output()->shape())
    return false;
  node->as<PointwiseAttrs>().expr = bound.expr;
  graph.setInputs(node, bound.inputs);
  graph.inferTypes(node);
  return true;
}

}  // namespace camshaft
