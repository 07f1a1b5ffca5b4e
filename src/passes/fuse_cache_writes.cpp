// What is computed by parts to be written into a cache is written there.
//
//   %q, %k = PointwiseParts(...)
//   %keys = ScatterND(%cache, %places, %k)      // the only reader of %k
//   →
//   %q, %keys = PointwiseParts(..., %cache, %places)
//
// A step of one token writes so little that each of these kernels is nothing but its start; of many
// tokens, keys and values need not be written twice.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/index.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

constexpr int64_t kMostColumns = 2048;  // of a row, that one block copies

// Whether no two rows are written to the same place: there are at most as many as the cache has.
static bool hasDistinctRows(const Graph& graph, const Node& scatter) {
  const Shape& cache = scatter.input(0)->shape();
  const Shape& tuples = scatter.input(1)->shape();
  const Shape& made = scatter.input(2)->shape();
  const int64_t length = tuples.back().value();
  if (static_cast<int64_t>(tuples.size()) != length + 1 || made.size() != cache.size())
    return false;
  const auto range = [&](const Dim& dim) { return rangeOf(dim, graph.symbolRange()); };
  for (int64_t i = 0; i < length; ++i)
    if (made[i] != cache[i] && range(made[i]).max > range(cache[i]).min) return false;
  return true;
}

static const Value* sourceOf(const Value* value) {
  while (const Node* reshape = producerOf(value, &ops::Reshape)) value = reshape->input(0);
  return value;
}

// The node that writes the value into a cache and is all that reads it.
static Node* writeOf(const Graph& graph, const Node& parts, const Value* value) {
  Node* scatter = soleUser(graph, value);
  const Value* made = value;
  if (scatter && scatter->op == &ops::Reshape && !scatter->epilogue) {
    made = scatter->output();
    scatter = soleUser(graph, made);
  }
  if (!scatter || scatter->op != &ops::ScatterND || scatter->epilogue || scatter->input(2) != made)
    return nullptr;
  const auto& attrs = scatter->as<ScatterNDAttrs>();
  const Shape& cache = scatter->input(0)->shape();
  const Shape row(cache.begin() + scatter->input(1)->shape().back().value(), cache.end());
  const Dim columns = numElements(row);
  const bool isRead = std::ranges::any_of(parts.inputs, [&](const Value* input) {
    return input && sourceOf(input) == sourceOf(scatter->input(0));
  });
  const bool fits = attrs.replacesData && attrs.skipsOutside &&
                    attrs.reduction == ScatterReduction::kNone && !isRead &&
                    !isPacked(value->dataType()) && columns.isConstant() &&
                    columns.value() <= kMostColumns && hasDistinctRows(graph, *scatter);
  return fits ? scatter : nullptr;
}

static bool fuseWrites(Graph& graph, const NodeOrder& order, Node* parts) {
  PointwisePartsAttrs attrs = parts->as<PointwisePartsAttrs>();
  if (!attrs.caches.empty()) return false;
  std::vector<Node*> writes;  // of each output, or null
  Node* last = nullptr;
  for (const Value* output : parts->outputs) {
    Node* write = writeOf(graph, *parts, output);
    writes.push_back(write);
    if (write && (!last || order.at(write) > order.at(last))) last = write;
  }
  if (!last) return false;
  // The node moves to the last of them.
  std::vector<Value*> inputs = parts->inputs;
  for (size_t i = 0; i < writes.size(); ++i) {
    const Value* result = writes[i] ? writes[i]->output() : parts->outputs[i];
    for (const Node* user : result->users)
      if (order.at(user) <= order.at(last)) return false;
    attrs.caches.push_back(-1);
    attrs.rows.push_back(-1);
    if (!writes[i]) continue;
    const auto add = [&](Value* value) {
      inputs.push_back(value);
      return static_cast<int64_t>(inputs.size()) - 1;
    };
    attrs.caches.back() = add(writes[i]->input(0));
    attrs.rows.back() = add(writes[i]->input(1));
  }
  const auto outputs = static_cast<int>(parts->outputs.size());
  Node* fused = graph.add(&ops::PointwiseParts, parts->name, std::move(inputs), std::move(attrs),
                          last, outputs);
  mergeOrigins(fused, parts);
  for (size_t i = 0; i < writes.size(); ++i)
    replaceValue(graph, writes[i] ? writes[i]->output() : parts->outputs[i], fused->outputs[i]);
  return true;
}

bool fuseCacheWrites(Graph& graph, const PassOptions& options) {
  if (!options.fusion.pointwiseParts) return false;
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::PointwiseParts) changed |= fuseWrites(graph, orderOf(graph), node);
  return changed;
}

}  // namespace camshaft
