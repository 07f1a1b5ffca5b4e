// Attention reads the keys and values that are there out of caches that have room for more, where
// they lie.
//
//   %k = Slice(%cache) {axes = [2], starts = [0], sizes = [n]}      // v alike
//   %y = Attention(%q, %k, %v)
//   →
//   %y = Attention(%q, %cache, %values) {keys = [n]}
#include "ir/rewrite.h"
#include "ops/attention.h"
#include "ops/move.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

// The slice that computes an operand of rank 4 as the first so many elements along an axis.
static const Node* firstOnes(const Value* operand, int64_t axis) {
  const Node* slice = operand->rank() == 4 ? producerOf(operand, &ops::Slice) : nullptr;
  if (!slice) return nullptr;
  const auto& attrs = slice->as<SliceAttrs>();
  const bool isFirst = attrs.axes == std::vector<int64_t>{axis} && attrs.starts[0].isConstant(0) &&
                       attrs.steps[0] == 1;
  return isFirst ? slice : nullptr;
}

static bool foldSlices(Graph& graph, Node* node) {
  AttentionAttrs attrs = node->as<AttentionAttrs>();
  const Node* keys = firstOnes(node->input(1), attrs.transposedKeys ? 3 : 2);
  const Node* values = firstOnes(node->input(2), 2);
  if (!attrs.keys.empty() || !keys || !values) return false;
  attrs.keys = keys->as<SliceAttrs>().sizes;
  std::vector<Value*> inputs = node->inputs;
  inputs[1] = keys->input(0);
  inputs[2] = values->input(0);
  const Node* attention =
      graph.add(&ops::Attention, node->name, std::move(inputs), std::move(attrs), node);
  replaceValue(graph, node->output(), attention->output());
  return true;
}

bool foldAttentionSlices(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Attention && !node->epilogue) changed |= foldSlices(graph, node);
  return changed;
}

}  // namespace camshaft
