// Attention reads the keys and values that are there out of caches that have room for more, where
// they lie.
//
//   %k = Slice(%cache) {axes = [2], starts = [0], sizes = [n]}      // v alike
//   %y = Attention(%q, %k, %v)
//   →
//   %y = Attention(%q, %cache, %values) {keys = [n]}
//
// Where the backend can, this goes for caches of bytes that are cast to floats for it too.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/attention.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

// The numbers of 8 bits that are cast to an operand; null where there are none of such types.
static Value* bytesIn(const Value* operand, std::span<const DataType> types) {
  const Node* cast = producerOf(operand, &ops::Pointwise);
  const bool isCast = cast && cast->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kCast);
  return isCast && std::ranges::count(types, cast->input(0)->dataType()) ? cast->input(0) : nullptr;
}

// The slice that computes an operand of rank 4 as the first so many elements along an axis.
static const Node* firstOnes(const Value* operand, int64_t axis) {
  const Node* slice = operand->rank() == 4 ? producerOf(operand, &ops::Slice) : nullptr;
  if (!slice) return nullptr;
  const auto& attrs = slice->as<SliceAttrs>();
  const bool isFirst = attrs.axes == std::vector<int64_t>{axis} && attrs.starts[0].isConstant(0) &&
                       attrs.steps[0] == 1;
  return isFirst ? slice : nullptr;
}

static bool foldOperands(Graph& graph, Node* node, std::span<const DataType> byteTypes) {
  AttentionAttrs attrs = node->as<AttentionAttrs>();
  std::vector<Value*> inputs = node->inputs;
  Value* keyBytes = bytesIn(inputs[1], byteTypes);
  Value* valueBytes = bytesIn(inputs[2], byteTypes);
  if (keyBytes && valueBytes && keyBytes->dataType() == valueBytes->dataType() &&
      keyBytes->rank() == 4 && valueBytes->rank() == 4 && !attrs.transposedKeys) {
    inputs[1] = keyBytes;
    inputs[2] = valueBytes;
  }
  const Node* keys = firstOnes(inputs[1], attrs.transposedKeys ? 3 : 2);
  const Node* values = firstOnes(inputs[2], 2);
  if (attrs.keys.empty() && keys && values) {
    attrs.keys = keys->as<SliceAttrs>().sizes;
    inputs[1] = keys->input(0);
    inputs[2] = values->input(0);
  }
  if (inputs == node->inputs) return false;
  const Node* attention =
      graph.add(&ops::Attention, node->name, std::move(inputs), std::move(attrs), node);
  replaceValue(graph, node->output(), attention->output());
  return true;
}

bool foldAttentionSlices(Graph& graph, const PassOptions& options) {
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Attention && !node->epilogue)
      changed |= foldOperands(graph, node, options.fusion.attendedBytes);
  return changed;
}

}  // namespace camshaft
