#include "slim/merge_moves.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "ops/move.h"
#include "ops/ops.h"

namespace camshaft {

namespace {

bool isKnownOffset(const Dim& position, const Dim& size) {
  return position.isConstant() || (position - size).isConstant();
}

// Whether ONNX can say the bounds as numbers. Other slices may be written as they were, with sizes
// that the model computes; together they could not be.
bool hasKnownBounds(const Node& slice) {
  const auto& attrs = slice.as<SliceAttrs>();
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    const Dim& size = slice.input(0)->shape()[attrs.axes[i]];
    const Dim end = attrs.starts[i] + attrs.sizes[i] * attrs.steps[i];
    const bool isWhole = attrs.sizes[i] == ceilDiv(size - attrs.starts[i], attrs.steps[i]);
    if (!isKnownOffset(attrs.starts[i], size) || !(isWhole || isKnownOffset(end, size)))
      return false;
  }
  return true;
}

bool haveCommonAxes(const SliceAttrs& a, const SliceAttrs& b) {
  return std::find_first_of(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end()) !=
         a.axes.end();
}

bool canMerge(const Node& inner, const Node& outer) {
  return outer.op == &ops::Slice && !outer.epilogue && hasKnownBounds(outer) &&
         !haveCommonAxes(inner.as<SliceAttrs>(), outer.as<SliceAttrs>());
}

void takeOver(Graph& graph, const Node& inner, Node* outer) {
  const auto& taken = inner.as<SliceAttrs>();
  auto& attrs = outer->as<SliceAttrs>();
  attrs.axes.insert(attrs.axes.end(), taken.axes.begin(), taken.axes.end());
  attrs.starts.insert(attrs.starts.end(), taken.starts.begin(), taken.starts.end());
  attrs.sizes.insert(attrs.sizes.end(), taken.sizes.begin(), taken.sizes.end());
  attrs.steps.insert(attrs.steps.end(), taken.steps.begin(), taken.steps.end());
  graph.setInput(outer, 0, inner.input(0));
  graph.inferTypes(outer);
  mergeOrigins(outer, &inner);
}

// All readers take it over, so that it goes.
bool mergeIntoReaders(Graph& graph, Node* inner) {
  const std::vector<Node*> readers = inner->output()->users;
  const bool isRead = !readers.empty() && !graph.isOutput(inner->output());
  if (!isRead || !hasKnownBounds(*inner) ||
      !std::all_of(readers.begin(), readers.end(),
                   [&](const Node* reader) { return canMerge(*inner, *reader); }))
    return false;
  for (Node* reader : readers) takeOver(graph, *inner, reader);
  graph.erase(inner);
  return true;
}

bool givesItsOperands(const Graph& graph, const Value* operand, int64_t axis) {
  const Node* inner = operand->producer;
  return inner && inner->op == &ops::Concat && !inner->epilogue &&
         inner->as<ConcatAttrs>().axis == axis && operand->users.size() == 1 &&
         !graph.isOutput(operand);
}

bool joinOperands(Graph& graph, Node* concat) {
  std::vector<Value*> operands;
  std::vector<Node*> merged;
  for (Value* operand : concat->inputs) {
    if (givesItsOperands(graph, operand, concat->as<ConcatAttrs>().axis)) {
      merged.push_back(operand->producer);
      operands.insert(operands.end(), merged.back()->inputs.begin(), merged.back()->inputs.end());
    } else {
      operands.push_back(operand);
    }
  }
  if (merged.empty()) return false;
  graph.setInputs(concat, std::move(operands));
  for (Node* inner : merged) {
    mergeOrigins(concat, inner);
    graph.erase(inner);
  }
  return true;
}

}  // namespace

bool mergeMoves(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->epilogue) continue;
    if (node->op == &ops::Slice)
      changed |= mergeIntoReaders(graph, node);
    else if (node->op == &ops::Concat)
      changed |= joinOperands(graph, node);
  }
  return changed;
}

}  // namespace camshaft
