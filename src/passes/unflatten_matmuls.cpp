// A matrix product over flattened rows multiplies the rows where they are, so that what follows
// (a residual sum, an activation) can ride on it.
//
//   %f = Reshape(%x) {[n*s, k]}              // x is [n, s, k]
//   %m = MatMul(%f, %w)
//   %b = Pointwise(%m, %bias) {add}          // any number of these
//   %y = Reshape(%b) {[n, s, j]}
//   →
//   %m = MatMul(%x, %w)
//   %y = Pointwise(%m, %bias) {add}
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

// Operands beside the rows vary along a row only, so they fit rows of any arrangement.
static bool keepsRows(const Node& pointwise, const Value* rows) {
  return std::all_of(pointwise.inputs.begin(), pointwise.inputs.end(),
                     [&](const Value* input) { return input == rows || input->rank() < 2; });
}

// The input that is the whole matrix of rows.
static Value* rowsBehind(const Node& pointwise) {
  for (Value* input : pointwise.inputs)
    if (input->shape() == pointwise.output()->shape()) return input;
  return nullptr;
}

// The nodes from the product to the reshape, product first; empty when the pattern is another.
static std::vector<Node*> chainUpTo(const Graph& graph, const Node* reshape) {
  std::vector<Node*> chain;
  const Node* reader = reshape;
  Value* value = reshape->input(0);
  while (soleUser(graph, value) == reader && value->producer && !value->producer->epilogue) {
    Node* node = value->producer;
    chain.insert(chain.begin(), node);
    if (node->op == &ops::MatMul) return chain;
    if (node->op != &ops::Pointwise) break;
    Value* rows = rowsBehind(*node);
    if (!rows || !keepsRows(*node, rows)) break;
    reader = node;
    value = rows;
  }
  return {};
}

static bool unflatten(Graph& graph, Node* reshape) {
  const std::vector<Node*> chain = chainUpTo(graph, reshape);
  if (chain.empty()) return false;
  Node* product = chain.front();
  Node* flatten = producerOf(product->input(0), &ops::Reshape);
  if (!flatten || product->as<MatMulAttrs>().transposeA || product->input(1)->rank() != 2)
    return false;
  Value* x = flatten->input(0);
  if (x->rank() < 3) return false;

  const Shape outer(x->shape().begin(), x->shape().end() - 1);
  const Shape flat{numElements(outer), x->shape().back()};
  Shape unflat = outer;
  unflat.push_back(product->output()->shape().back());
  if (flatten->output()->shape() != flat || reshape->output()->shape() != unflat) return false;

  graph.setInput(product, 0, x);
  graph.eraseIfDead(flatten);
  for (Node* node : chain) graph.inferTypes(node);
  replaceValue(graph, reshape->output(), chain.back()->output());
  return true;
}

bool unflattenMatMuls(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Reshape && !node->epilogue) changed |= unflatten(graph, node);
  return changed;
}

}  // namespace camshaft
