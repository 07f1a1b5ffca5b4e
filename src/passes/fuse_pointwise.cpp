// Pointwise nodes that feed one another become one node with the combined expression.
//
//   %a = Pointwise(%x, %y) {add(x0, x1)}
//   %b = Pointwise(%a) {relu(x0)}             // the only reader of a
//   →
//   %b = Pointwise(%x, %y) {relu(add(x0, x1))}
//
// Only producers of the full result shape fuse: a smaller one would be computed again for every
// element it is broadcast to. The fused node stands where the reader stood, which is always legal.
//
// Where backends have products of integers, quantised values stay bytes: what makes them can ride
// on the product, what reads them has a table for each byte. So an expression does not go on beyond
// them, unless it reads no more tensors then; and dequantisation is done by each of its readers.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
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

static bool isByte(const Value* value) {
  return value->dataType() == DataType::kU8 || value->dataType() == DataType::kI8;
}

// The inputs that have an element for each of the result's.
static std::vector<Value*> wholeInputs(const Node* node) {
  std::vector<Value*> whole;
  for (Value* input : node->inputs)
    if (input->shape() == node->output()->shape() && !input->isConstant()) whole.push_back(input);
  return whole;
}

// One tensor of bytes made real numbers, which costs less than to write and read them.
static bool isDequantisation(const Node* node) {
  constexpr size_t kFewInstructions = 8;
  const std::vector<Value*> inputs = wholeInputs(node);
  return inputs.size() == 1 && isByte(inputs[0]) && node->output()->dataType() == DataType::kF32 &&
         node->as<PointwiseAttrs>().expr.code().size() <= kFewInstructions;
}

// Whether the expression of `node` may go on beyond the bytes that `producer` gives it.
static bool goesBeyondBytes(const Node* node, const Node* producer) {
  const std::vector<Value*> read = wholeInputs(node), more = wholeInputs(producer);
  if (read.size() == 1 && more.size() == 1 && isByte(node->output()) && isByte(more[0]))
    return true;  // a table for each byte as well
  return std::all_of(more.begin(), more.end(), [&](const Value* value) {
    return std::find(read.begin(), read.end(), value) != read.end();
  });
}

static bool fuseProducer(Graph& graph, Node* node, Value* input, bool keepsBytes) {
  Node* producer = input->producer;
  if (!isPointwise(producer)) return false;
  if (soleUser(graph, input) != node && !(keepsBytes && isDequantisation(producer))) return false;
  if (input->shape() != node->output()->shape()) return false;
  if (keepsBytes && isByte(input) && !goesBeyondBytes(node, producer)) return false;
  const BoundExpr fused = simplified(substituted(boundExpr(*node), input, boundExpr(*producer)));
  if (fused.expr.code().size() > kMaxFusedInstructions || fused.inputs.size() > kMaxInputs)
    return false;
  if (!rewritePointwise(graph, node, fused)) return false;
  mergeOrigins(node, producer);
  graph.eraseIfDead(producer);
  return true;
}

static bool fuseAnyProducer(Graph& graph, Node* node, bool keepsBytes) {
  for (Value* input : std::vector<Value*>(node->inputs))
    if (fuseProducer(graph, node, input, keepsBytes)) return true;
  return false;
}

bool fusePointwise(Graph& graph, const PassOptions& options) {
  const bool keepsBytes = options.fusion.integerProducts;
  bool changed = false;
  for (Node* node : graph.nodeList()) {  // producers come first, so erased ones were visited
    if (!isPointwise(node)) continue;
    while (fuseAnyProducer(graph, node, keepsBytes)) changed = true;
  }
  return changed;
}

}  // namespace camshaft
