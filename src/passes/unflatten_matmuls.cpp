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
//
// What quantises the flattened rows is done before they are flattened too.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/row_work.h"

namespace camshaft {

// Operands beside the rows are of rank 1 at most, so that they fit rows of any arrangement.
static Value* rowsBehind(const Node* pointwise) { return rowsOf(pointwise, 1); }

// A Pointwise that computes rows of whatever arrangement alike; null when the value is not of one.
static Node* workOnRows(const Value* value) {
  Node* node = producerOf(value, &ops::Pointwise);
  return rowsBehind(node) ? node : nullptr;
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
    if (!workOnRows(value)) break;
    reader = node;
    value = rowsBehind(node);
  }
  return {};
}

// Puts in front of the chain what works on its product's rows for the product alone.
static void extendBackwards(const Graph& graph, std::vector<Node*>& chain) {
  const Value* rows = chain.front()->input(0);
  for (Node* node = workOnRows(rows); node && soleUser(graph, rows) == chain.front();
       node = workOnRows(rows)) {
    chain.insert(chain.begin(), node);
    rows = rowsBehind(node);
  }
}

static bool unflatten(Graph& graph, Node* reshape) {
  std::vector<Node*> chain = chainUpTo(graph, reshape);
  if (chain.empty()) return false;
  const Node* product = chain.front();
  if (product->as<MatMulAttrs>().transposeA || product->input(1)->rank() != 2) return false;
  extendBackwards(graph, chain);
  Node* first = chain.front();
  Value* rows = first == product ? product->input(0) : rowsBehind(first);
  Node* flatten = producerOf(rows, &ops::Reshape);
  if (!flatten) return false;
  Value* x = flatten->input(0);
  if (x->rank() < 3) return false;

  const Shape outer(x->shape().begin(), x->shape().end() - 1);
  const Shape flat{numElements(outer), x->shape().back()};
  Shape unflat = outer;
  unflat.push_back(product->output()->shape().back());
  if (flatten->output()->shape() != flat || reshape->output()->shape() != unflat) return false;

  for (int i = 0; i < static_cast<int>(first->inputs.size()); ++i)
    if (first->inputs[i] == rows) graph.setInput(first, i, x);
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
