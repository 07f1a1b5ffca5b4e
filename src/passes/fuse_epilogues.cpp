// Pointwise work on the result of a convolution or matrix product rides on that node, and on others
// whose kernels take it.
//
//   %c = Conv(%x, %w)
//   %y = Pointwise(%c, %b, %r) {relu(add(add(x0, x1), x2))}     // the only reader of c
//   →
//   %y = Conv(%x, %w) epilogue(%b, %r) {relu(add(add(x0, x1), x2))}
//
// When two anchors meet (a residual join) the later one takes the work, so that the other's
// result is there to read; products come before others, because their kernels have time to spare
// while they wait for memory. The anchor moves down to where the Pointwise stood; all it reads is
// computed by then, and nobody reads its result earlier.
#include <algorithm>
#include <tuple>

#include "ir/rewrite.h"
#include "ops/attention.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/quantisation.h"

namespace camshaft {

// Bounds on what a kernel keeps at hand per tile of its result.
constexpr size_t kMaxEpilogue = 64;
constexpr size_t kMaxExtraInputs = 8;

static bool isOneOf(std::span<const Op> ops, const Node* node) {
  return std::find(ops.begin(), ops.end(), node->op) != ops.end();
}

// Whether a product of integers that stores bytes takes more work in its registers: whatever gives
// bytes and reads these alone, and what was rounded once and meets other bytes of its own shape.
static bool goesOnInBytes(const Node* anchor, const Node* node) {
  const auto& code = anchor->epilogue->expr.code();
  const auto rounds = std::count_if(code.begin(), code.end(), [](const ScalarInstruction& i) {
    return i.op == ScalarOp::kRound;
  });
  if (!isByte(node->output())) return rounds <= 1;
  std::vector<const Value*> others;
  for (const Value* input : node->inputs)
    if (input != anchor->output() && !isOneConstant(input)) others.push_back(input);
  return others.empty() || (rounds <= 1 && others.size() == 1 && isByte(others[0]) &&
                            others[0]->shape() == node->output()->shape());
}

// Attention stores bytes where the copy of its result that is saved counts: among many keys it does
// not, and libraries' kernels, which take no epilogue, are there to be chosen. They have none for
// keys of 8 bits.
static bool attentionTakes(const Graph& graph, const Node* attention, const Node* node) {
  constexpr int64_t kManyKeys = 1024;
  const Dim keys = attentionGeometry(*attention).k.length;
  if (node->inputs.size() != 1) return false;
  return isOfEightBits(attention->input(1)) ||
         (isOfEightBits(node->output()) && rangeOf(keys, graph.symbolRange()).max <= kManyKeys);
}

// Kernels of real numbers store real numbers, but for backends where all store anything: what is
// quantised behind them is bytes in a step of its own, and what follows works on these. Products of
// integers store bytes.
static bool storesResult(const Graph& graph, const Node* anchor, const Node* node,
                         const PassOptions& options) {
  if (anchor->op == &ops::Attention) return attentionTakes(graph, anchor, node);
  if (!options.fusion.integerProducts || options.fusion.bytesFromAnywhere) return true;
  const bool isOfIntegers = anchor->op == &ops::MatMulInteger || anchor->op == &ops::ConvInteger;
  if (isByte(anchor->output()) && anchor->epilogue) return goesOnInBytes(anchor, node);
  return isOfIntegers || !isByte(node->output());
}

// Whether the producer can move down to the node: what it has beside its result is read later, too.
static bool waitsFor(const Node* producer, const Node* node, const NodeOrder& order) {
  if (producer->outputs.size() == 1) return true;
  if (producer->op != &ops::NormMatMul) return false;
  return std::all_of(
      producer->outputs.begin() + 1, producer->outputs.end(), [&](const Value* value) {
        return std::ranges::all_of(
            value->users, [&](const Node* user) { return order.at(user) > order.at(node); });
      });
}

// The anchor among the producers of the node's inputs that can take the node in: the latest
// product, one whose sums would be stored in f32 first, then one that does not store bytes, or else
// the latest of the others.
static Node* findAnchor(const Graph& graph, const Node* node, const PassOptions& options,
                        const NodeOrder& order) {
  const auto rank = [&](const Node* anchor) {
    return std::tuple(isOneOf(kProducts, anchor), isSumOfFloat8(anchor->output()),
                      !isOfEightBits(anchor->output()), order.at(anchor));
  };
  Node* best = nullptr;
  for (const Value* input : node->inputs) {
    Node* producer = input->producer;
    if (!producer || !isOneOf(options.fusion.epilogues, producer) ||
        !waitsFor(producer, node, order))
      continue;
    if (soleUser(graph, input) != node || input->shape() != node->output()->shape() ||
        !storesResult(graph, producer, node, options))
      continue;
    if (!best || rank(producer) > rank(best)) best = producer;
  }
  return best;
}

static bool fuseInto(Graph& graph, Node* anchor, Node* node) {
  Value* result = anchor->output();
  const BoundExpr fused = simplified(substituted(boundExpr(*node), result, boundEpilogue(*anchor)));
  // The result must still be read, as input 0.
  if (fused.inputs.empty() || fused.inputs[0] != result) return false;
  const size_t most = isByte(result) && isByte(node->output()) ? kMaxTable : kMaxEpilogue;
  if (fused.expr.code().size() > most || fused.inputs.size() > kMaxExtraInputs + 1) return false;

  const int firstInput = anchor->ownInputs();
  std::vector<Value*> inputs(anchor->inputs.begin(), anchor->inputs.begin() + firstInput);
  inputs.insert(inputs.end(), fused.inputs.begin() + 1, fused.inputs.end());
  graph.moveBefore(anchor, node);
  mergeOrigins(anchor, node);
  const std::string name = node->output()->name;
  graph.replaceUses(node->output(), result);
  graph.erase(node);
  graph.setInputs(anchor, std::move(inputs));
  anchor->epilogue = Epilogue{fused.expr, firstInput};
  graph.rename(result, name);
  graph.inferTypes(anchor);
  return true;
}

// Work on one tensor behind a reshape is as well done in front of it, by what computes the tensor.
static bool moveBeforeReshape(Graph& graph, Node* node, const PassOptions& options) {
  Node* reshape = node->inputs.size() == 1 ? producerOf(node->input(0), &ops::Reshape) : nullptr;
  if (!reshape || reshape->epilogue || soleUser(graph, reshape->output()) != node) return false;
  const Node* anchor = reshape->input(0)->producer;
  if (!anchor || !isOneOf(options.fusion.epilogues, anchor) || anchor->outputs.size() != 1 ||
      soleUser(graph, reshape->input(0)) != reshape || !storesResult(graph, anchor, node, options))
    return false;
  Node* work = graph.add(&ops::Pointwise, node->name, {reshape->input(0)},
                         node->as<PointwiseAttrs>(), reshape);
  Node* last = graph.add(&ops::Reshape, reshape->name, {work->output()},
                         reshape->as<ReshapeAttrs>(), reshape);
  replaceValue(graph, node->output(), last->output());
  return true;
}

// Work on one tensor in front of a transpose is as well done behind it: a conversion of the input.
static bool fuseFromBehind(Graph& graph, Node* transpose) {
  Node* node = producerOf(transpose->input(0), &ops::Pointwise);
  if (!node || node->inputs.size() != 1 || soleUser(graph, node->output()) != transpose)
    return false;
  BoundExpr work = boundExpr(*node);
  work.inputs = {transpose->output()};
  const BoundExpr fused =
      simplified(substituted(boundEpilogue(*transpose), transpose->output(), work));
  if (fused.inputs.empty() || fused.inputs[0] != transpose->output() ||
      fused.expr.code().size() > kMaxEpilogue)
    return false;
  mergeOrigins(transpose, node);
  std::vector<Value*> inputs{node->inputs[0]};
  inputs.insert(inputs.end(), fused.inputs.begin() + 1, fused.inputs.end());
  graph.setInputs(transpose, std::move(inputs));
  transpose->epilogue = Epilogue{fused.expr, 1};
  graph.eraseIfDead(node);
  graph.inferTypes(transpose);
  return true;
}

bool fuseEpilogues(Graph& graph, const PassOptions& options) {
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Pointwise && !node->epilogue)
      changed |= moveBeforeReshape(graph, node, options);
  NodeOrder order = orderOf(graph);
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::Pointwise || node->epilogue) continue;
    Node* anchor = findAnchor(graph, node, options, order);
    if (!anchor || !fuseInto(graph, anchor, node)) continue;
    order[anchor] = order.at(node);
    changed = true;
  }
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Transpose && isOneOf(options.fusion.epilogues, node))
      changed |= fuseFromBehind(graph, node);
  return changed;
}

}  // namespace camshaft
