// Pointwise nodes that feed one another become one node with the combined expression.
//
//   %a = Pointwise(%x, %y) {add(x0, x1)}
//   %b = Pointwise(%a) {relu(x0)}             // the only reader of a
//   →
//   %b = Pointwise(%x, %y) {relu(add(x0, x1))}
//
// Only producers of the full result shape fuse: a smaller one would be computed again for every
// element it is broadcast to. Indices, integers of few elements, are: that is less than a kernel
// costs. The fused node stands where the reader stood, which is always legal.
//
// Where backends have products of integers, quantised values stay bytes: what makes them can ride
// on the product, what reads one of them has a table for each byte, and what reads two is done in
// one pass. So an expression does not go on beyond them, unless it then is one of a single tensor
// of bytes; and dequantisation is done by each of its readers.
//
// Sums of products of 8-bit floats are f32: where two of them meet, as of a gate and what it lets
// through, what scales the first stays apart, so that it rides on its own product and fewer bits
// are stored.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/quantisation.h"

namespace camshaft {

// Bounds on one expression: its tile's temporaries should stay in the first-level cache.
constexpr size_t kMaxFusedInstructions = 64;
constexpr size_t kMaxInputs = 8;

static bool isPointwise(const Node* node) {
  return node && node->op == &ops::Pointwise && !node->epilogue;
}

// One tensor of bytes made real numbers, which costs less than to write and read them.
static bool isDequantisation(const Node* node) {
  constexpr size_t kFewInstructions = 8;
  return isByte(node->inputs[0]) && node->inputs[0]->shape() == node->output()->shape() &&
         std::all_of(node->inputs.begin() + 1, node->inputs.end(), isOneConstant) &&
         node->output()->dataType() == DataType::kF32 &&
         node->as<PointwiseAttrs>().expr.code().size() <= kFewInstructions;
}

// Integers that are computed again for each reader and each of its elements.
static bool areIndices(const Node* producer, const Node* reader) {
  constexpr size_t kFewInstructions = 16;
  constexpr int64_t kFewElements = 1 << 16;
  const Dim count = numElements(reader->output()->shape());
  return isIndex(producer->output()) && std::ranges::all_of(producer->inputs, isIndex) &&
         producer->as<PointwiseAttrs>().expr.code().size() <= kFewInstructions &&
         count.isConstant() && count.value() <= kFewElements;
}

// Whether the expression of `node` may go on beyond the bytes `input` that `producer` gives it.
static bool goesBeyondBytes(const Node* node, const Value* input, const Node* producer) {
  std::vector<Value*> read = producer->inputs;
  for (Value* other : node->inputs)
    if (other != input) read.push_back(other);
  const bool givesBytes = isByte(node->output()), readsBoth = node->inputs.size() > 1;
  return isByte(read[0]) && (givesBytes || readsBoth) &&
         std::all_of(read.begin(), read.end(), [&](Value* value) { return value == read[0]; });
}

static size_t mostInstructions(const Node* node, const BoundExpr& fused, bool keepsBytes) {
  const bool isTable =
      keepsBytes && fused.inputs.size() == 1 && isByte(fused.inputs[0]) && isByte(node->output());
  return isTable ? kMaxTable : kMaxFusedInstructions;
}

// The sums that a value, or the Pointwise node that gives it, reads.
static const Value* float8SumsOf(const Value* value) {
  if (isSumOfFloat8(value)) return value;
  if (!isPointwise(value->producer)) return nullptr;
  const auto& inputs = value->producer->inputs;
  const auto found = std::find_if(inputs.begin(), inputs.end(), isSumOfFloat8);
  return found == inputs.end() ? nullptr : *found;
}
// Whether `input` is made of the first of two such products; the second goes on in `node`.
static bool staysApart(const Node* node, const Value* input, const NodeOrder& order) {
  const Value* sums = float8SumsOf(input);
  return sums && std::any_of(node->inputs.begin(), node->inputs.end(), [&](const Value* other) {
           const Value* others = float8SumsOf(other);
           return others && order.at(sums->producer) < order.at(others->producer);
         });
}

static bool fuseProducer(Graph& graph, Node* node, Value* input, bool keepsBytes,
                         const NodeOrder& order) {
  Node* producer = input->producer;
  if (!isPointwise(producer)) return false;
  const bool isRepeatable = areIndices(producer, node);
  if (soleUser(graph, input) != node && !isRepeatable &&
      !(keepsBytes && isDequantisation(producer)))
    return false;
  if (input->shape() != node->output()->shape() && !isRepeatable) return false;
  if (keepsBytes && isByte(input) && !goesBeyondBytes(node, input, producer)) return false;
  if (staysApart(node, input, order)) return false;
  const BoundExpr fused = simplified(substituted(boundExpr(*node), input, boundExpr(*producer)));
  if (fused.expr.code().size() > mostInstructions(node, fused, keepsBytes) ||
      fused.inputs.size() > kMaxInputs)
    return false;
  if (!rewritePointwise(graph, node, fused)) return false;
  mergeOrigins(node, producer);
  graph.eraseIfDead(producer);
  return true;
}

static bool fuseAnyProducer(Graph& graph, Node* node, bool keepsBytes, const NodeOrder& order) {
  for (Value* input : std::vector<Value*>(node->inputs))
    if (fuseProducer(graph, node, input, keepsBytes, order)) return true;
  return false;
}

bool fusePointwise(Graph& graph, const PassOptions& options) {
  const bool keepsBytes = options.fusion.integerProducts;
  const NodeOrder order = orderOf(graph);
  bool changed = false;
  for (Node* node : graph.nodeList()) {  // producers come first, so erased ones were visited
    if (!isPointwise(node)) continue;
    while (fuseAnyProducer(graph, node, keepsBytes, order)) changed = true;
  }
  return changed;
}

}  // namespace camshaft
