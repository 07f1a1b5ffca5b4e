// Small tensors that come from the inputs alone, as positions, masks and indices of tokens do, are
// computed first.
//
//   %p = MatMul(%x, %w)                       %i = Pointwise(%last) {add}
//   %i = Pointwise(%last) {add}          →    %p = MatMul(%x, %w)
//   %y = Gather(%p, %i)                       %y = Gather(%p, %i)
//
// Kernels of a device start while those before them run, and have weights on their way meanwhile:
// behind a product that everybody waits for, such nodes cost their time, in front of it little.
#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>

#include "ops/ops.h"
#include "ops/symbols.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

static bool isSmall(const Value* value) {
  constexpr int64_t kMostElements = 1 << 18;
  const Dim count = numElements(value->shape());
  return count.isConstant() && count.value() <= kMostElements;
}

// Integers and truths, and the rows of a table that they lead to.
static bool isOfIndices(const Node& node) {
  static constexpr Op kOps[] = {&ops::Pointwise, &ops::PointwiseParts, &ops::Gather,
                                &ops::Reshape,   &ops::Expand,         &ops::Concat,
                                &ops::Slice,     &ops::Transpose};
  const bool isLookUp = node.op == &ops::Gather && node.input(0)->isConstant();
  return std::ranges::count(kOps, node.op) > 0 && symbolsDefined(node).empty() &&
         std::ranges::all_of(node.outputs, isSmall) &&
         (isLookUp || std::ranges::all_of(node.outputs, isIndex));
}

bool advanceIndices(Graph& graph, const PassOptions&) {
  std::unordered_set<const Node*> early;
  Node* first = nullptr;       // of those that are not early
  std::set<std::string> late;  // sizes that those decide
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    const bool isEarly =
        isOfIndices(*node) &&
        std::ranges::all_of(node->inputs,
                            [&](const Value* input) {
                              return !input || !input->producer || early.contains(input->producer);
                            }) &&
        std::ranges::none_of(symbolsOf(*node),
                             [&](const std::string& name) { return late.contains(name); });
    if (!isEarly) {
      if (!first) first = node;
      late.merge(symbolsDefined(*node));
      continue;
    }
    early.insert(node);
    if (!first) continue;
    graph.moveBefore(node, first);
    changed = true;
  }
  return changed;
}

}  // namespace camshaft
