// A Gather at constant, evenly spaced positions is a Slice, which other passes see through and
// kernels read in place.
//
//   %y = Gather(%x, 2) {axis = 1}
//   →
//   %s = Slice(%x) {axes = [1], starts = [2], sizes = [1]}
//   %y = Reshape(%s)                                        // without dimension 1
//
//   %y = Gather(%x, [1, 3, 5]) {axis = 0}
//   →
//   %y = Slice(%x) {axes = [0], starts = [1], sizes = [3], steps = [2]}
#include <algorithm>
#include <optional>

#include "ops/index.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

namespace {

struct Progression {
  int64_t first = 0, step = 1, count = 0;
};

}  // namespace

// Indices as first, first + step, ..., all counted from the same end.
static std::optional<Progression> progressionOf(const Value& indices) {
  if (!indices.isConstant() || indices.isOpaque() || indices.rank() > 1) return std::nullopt;
  const ConstTensorView view = indices.view();
  Progression found{.count = view.count()};
  if (found.count == 0) return std::nullopt;
  const auto at = [&](int64_t i) { return readInteger(view.type, view.data, i); };
  found.first = at(0);
  if (found.count > 1) found.step = at(1) - at(0);
  if (found.step == 0) return std::nullopt;
  for (int64_t i = 1; i < found.count; ++i)
    if (at(i) != found.first + i * found.step || (at(i) < 0) != (found.first < 0))
      return std::nullopt;
  return found;
}

// Whether all of them lie in a dimension; the first and the last element of one are taken to.
static bool liesIn(const Progression& progression, const Dim& dim, const Graph& graph) {
  const int64_t last = progression.first + (progression.count - 1) * progression.step;
  const auto [least, most] = std::minmax(progression.first, last);
  const int64_t needed = least < 0 ? -least : most + 1;
  return needed == 1 || needed <= rangeOf(dim, graph.symbolRange()).min;
}

static bool replaceBySlice(Graph& graph, Node* gather) {
  const auto progression = progressionOf(*gather->input(1));
  if (!progression) return false;
  Value* x = gather->input(0);
  const int64_t axis = gather->as<GatherAttrs>().axis;
  if (gather->as<GatherAttrs>().zeroOutside && !liesIn(*progression, x->shape()[axis], graph))
    return false;
  SliceAttrs attrs;
  attrs.axes = {axis};
  attrs.starts = {progression->first < 0 ? x->shape()[axis] + progression->first
                                         : Dim(progression->first)};
  attrs.sizes = {progression->count};
  attrs.steps = {progression->step};
  Value* taken = graph.add(&ops::Slice, gather->name, {x}, std::move(attrs), gather)->output();
  if (gather->input(1)->rank() == 0) {
    ReshapeAttrs reshape;
    reshape.shape = gather->output()->shape();
    taken = graph.add(&ops::Reshape, gather->name, {taken}, std::move(reshape), gather)->output();
  }
  replaceValue(graph, gather->output(), taken);
  return true;
}

bool simplifyGathers(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Gather && !node->epilogue) changed |= replaceBySlice(graph, node);
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
