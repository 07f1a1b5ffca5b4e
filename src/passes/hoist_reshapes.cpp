// A reshape of a product's rows moves in front of the product, so that what follows can ride on it.
//
//   %m = MatMul(%x, %w)                             // x [n*s, k], w [k, c]
//   %b = Pointwise(%m, %bias) {add}                 // bias [c]
//   %r = Reshape(%b) [n, s, c]
//   %y = Pointwise(%r, %residual) {add}
//   →
//   %r = Reshape(%x) [n, s, k]
//   %m = MatMul(%r, %w)
//   %b = Pointwise(%m, %bias) {add}
//   %y = Pointwise(%b, %residual) {add}
//
// So does one of a number in front of what computes it, as positions of tokens are, so that they
// are computed where they are read.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/row_work.h"

namespace camshaft {

// The product behind a chain of pointwise nodes that treat all rows alike; null when there is none.
static Node* productBehind(const Graph& graph, const Value* value, size_t rank) {
  if (!soleUser(graph, value)) return nullptr;
  Node* producer = value->producer;
  if (isProductOfRows(producer)) return producer;
  const Node* node = producerOf(value, &ops::Pointwise);
  Node* product = nullptr;
  for (const Value* input : node ? node->inputs : std::vector<Value*>{}) {
    if (sameForAllRows(input, rank) && input->shape() != value->shape()) continue;
    if (product || input->shape() != value->shape()) return nullptr;
    product = productBehind(graph, input, rank);
    if (!product) return nullptr;
  }
  return product;
}

static Shape withLast(Shape shape, const Dim& last) {
  shape.back() = last;
  return shape;
}

static bool hoist(Graph& graph, Node* reshape) {
  Value *value = reshape->input(0), *result = reshape->output();
  if (value->rank() < 2 || result->rank() < 2 || value->shape().back() != result->shape().back())
    return false;
  Node* product = productBehind(graph, value, static_cast<size_t>(result->rank()));
  if (!product || !knowsSizesWith(graph, *reshape, product->input(0))) return false;

  ReshapeAttrs attrs;
  attrs.shape = withLast(result->shape(), product->input(0)->shape().back());
  Node* before =
      graph.add(&ops::Reshape, reshape->name, {product->input(0)}, std::move(attrs), product);
  graph.setInput(product, 0, before->output());
  for (Node* node = product; node != reshape; node = soleUser(graph, node->output()))
    graph.inferTypes(node);
  replaceValue(graph, result, value);
  return true;
}

static bool isNumber(const Value* value) { return numElements(value->shape()).isConstant(1); }

// Adds those that take its place to `reshapes`.
static bool hoistOfNumber(Graph& graph, Node* reshape, std::vector<Node*>& reshapes) {
  const Value* value = reshape->input(0);
  const Node* computed = producerOf(value, &ops::Pointwise);
  if (!isNumber(value) || !computed || computed->inputs.empty() ||
      !std::ranges::all_of(computed->inputs, isNumber))
    return false;
  const Shape& shape = reshape->output()->shape();
  std::vector<Value*> inputs;
  for (Value* input : computed->inputs) {
    inputs.push_back(addReshape(graph, reshape->name, input, shape, reshape));
    if (inputs.back() != input) reshapes.push_back(inputs.back()->producer);
  }
  Value* moved = addPointwise(graph, computed->name, std::move(inputs),
                              computed->as<PointwiseAttrs>().expr, reshape);
  moved->producer->origins = computed->origins;
  replaceValue(graph, reshape->output(), moved);
  return true;
}

bool hoistReshapes(Graph& graph, const PassOptions&) {
  bool changed = false;
  std::vector<Node*> reshapes;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Reshape && !node->epilogue) reshapes.push_back(node);
  for (size_t i = 0; i < reshapes.size(); ++i) {  // each erases itself only
    Node* reshape = reshapes[i];
    changed |= hoistOfNumber(graph, reshape, reshapes) || hoist(graph, reshape);
  }
  return changed;
}

}  // namespace camshaft
