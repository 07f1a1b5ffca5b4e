// Nodes that change nothing go, and pairs of movements that amount to one become one.
//
//   Identity(x), Reshape(x) to its own shape, Transpose(x) [0, 1, 2],      →  x
//   Pointwise(x) {x0}, Slice, Pad, Tile, Concat, Expand, Reduce of nothing
//   x + 0, x - 0, x * 1, x / 1 with tensors of zeros or ones               →  x
//   Reshape(Reshape(x))                                                    →  Reshape(x)
//   Transpose(x) that moves only dimensions of size 1                      →  Reshape(x)
//   Slice(Concat(a, b)) that takes exactly b                               →  b
//   Pointwise(Expand(x), y) where y has the expanded shape                 →  Pointwise(x, y)
#include <algorithm>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

static bool allEqual(const std::vector<Dim>& dims, int64_t value) {
  return std::all_of(dims.begin(), dims.end(),
                     [&](const Dim& dim) { return dim.isConstant(value); });
}

static bool takesAll(const Node& slice) {
  const auto& attrs = slice.as<SliceAttrs>();
  return allEqual(attrs.starts, 0) && slice.input(0)->shape() == slice.output()->shape() &&
         std::all_of(attrs.steps.begin(), attrs.steps.end(),
                     [](int64_t step) { return step == 1; });
}

static bool reducesNothing(const Node& reduce) {
  const auto& attrs = reduce.as<ReduceAttrs>();
  const bool keepsSingle = attrs.kind == ReduceKind::kSum || attrs.kind == ReduceKind::kMean ||
                           attrs.kind == ReduceKind::kMax || attrs.kind == ReduceKind::kMin ||
                           attrs.kind == ReduceKind::kProd;
  const bool single = std::all_of(attrs.axes.begin(), attrs.axes.end(), [&](int64_t axis) {
    return reduce.input(0)->shape()[axis].isConstant(1);
  });
  return keepsSingle && single && reduce.input(0)->shape() == reduce.output()->shape();
}

// Which operand of its concatenation a slice takes whole, for those slices that do.
using SlicedOperands = std::unordered_map<const Node*, size_t>;

// Those of one concatenation. All its slices at once: there may be as many as operands.
static void findSlicedOperands(const Node& concat, SlicedOperands& sliced) {
  if (concat.op != &ops::Concat || concat.epilogue) return;
  const int64_t axis = concat.as<ConcatAttrs>().axis;
  std::unordered_map<std::string, std::vector<const Node*>> slices;  // by where they begin
  for (const Node* user : concat.output()->users) {
    if (user->op != &ops::Slice || user->epilogue) continue;
    const auto& attrs = user->as<SliceAttrs>();
    if (attrs.axes == std::vector<int64_t>{axis} && attrs.steps[0] == 1)
      slices[toString(attrs.starts[0])].push_back(user);
  }
  Dim start = 0;
  for (size_t i = 0; !slices.empty() && i < concat.inputs.size(); ++i) {
    const Dim& size = concat.inputs[i]->shape()[axis];
    if (const auto here = slices.find(toString(start)); here != slices.end())
      for (const Node* slice : here->second)
        if (size == slice->as<SliceAttrs>().sizes[0]) sliced.try_emplace(slice, i);
    start += size;
  }
}

static bool isFilledWith(const Value* value, double number) {
  if (!value->isConstant() || value->isOpaque() || bitsOf(value->dataType()) < 8) return false;
  const ConstTensorView view = value->view();
  for (int64_t i = 0; i < view.count(); ++i)
    if (readElement(view.type, view.data, i) != number) return false;
  return true;
}

// The operand that the other one leaves as it is. Adding 0.0 does not: it makes -0.0 another zero.
static Value* besideNeutral(const Node& node) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  if (node.inputs.size() != 2 || !expr.isSingle()) return nullptr;
  const ScalarOp op = expr.code().back().op;
  const bool isSum = op == ScalarOp::kAdd && isInteger(expr.resultType());
  const bool isProduct = op == ScalarOp::kMul;
  if (!isSum && !isProduct && op != ScalarOp::kSub && op != ScalarOp::kDiv) return nullptr;
  const double neutral = isProduct || op == ScalarOp::kDiv ? 1 : 0;
  if (isFilledWith(node.inputs[1], neutral)) return node.inputs[0];
  return (isSum || isProduct) && isFilledWith(node.inputs[0], neutral) ? node.inputs[1] : nullptr;
}

// The value whose elements the node's output repeats one by one, or null.
static Value* sameAs(const Node& node, const SlicedOperands& sliced) {
  if (node.epilogue || node.inputs.empty() || node.outputs.size() != 1) return nullptr;
  Value* x = node.inputs[0];
  const bool sameShape = x && x->shape() == node.output()->shape();
  if (node.op == &ops::Slice && !takesAll(node)) {
    const auto operand = sliced.find(&node);
    return operand == sliced.end() ? nullptr : x->producer->inputs[operand->second];
  }
  if (node.op == &ops::Pointwise)
    if (Value* same = besideNeutral(node); same && same->shape() == node.output()->shape())
      return same;
  if (!sameShape) return nullptr;
  if (node.op == &ops::Identity || node.op == &ops::Reshape || node.op == &ops::Expand ||
      node.op == &ops::Slice)
    return x;
  if (node.op == &ops::Transpose)
    return std::is_sorted(node.as<TransposeAttrs>().order.begin(),
                          node.as<TransposeAttrs>().order.end())
               ? x
               : nullptr;
  if (node.op == &ops::Pointwise)
    return node.as<PointwiseAttrs>().expr.code().size() == 1 ? x : nullptr;
  if (node.op == &ops::Concat) return node.inputs.size() == 1 ? x : nullptr;
  if (node.op == &ops::Tile) return allEqual(node.as<TileAttrs>().repeats, 1) ? x : nullptr;
  if (node.op == &ops::Pad) {
    const auto& attrs = node.as<PadAttrs>();
    return allEqual(attrs.begin, 0) && allEqual(attrs.end, 0) ? x : nullptr;
  }
  if (node.op == &ops::Reduce) return reducesNothing(node) ? x : nullptr;
  return nullptr;
}

// A reshape of a reshape reads the first one's input.
static bool skipInnerReshape(Graph& graph, Node* node) {
  if (node->op != &ops::Reshape) return false;
  Node* inner = node->input(0)->producer;
  if (!inner || inner->op != &ops::Reshape || inner->epilogue) return false;
  mergeOrigins(node, inner);
  graph.setInput(node, 0, inner->input(0));
  graph.eraseIfDead(inner);
  return true;
}

static bool movesOnlyOnes(const Node& transpose) {
  int64_t last = -1;  // dimensions larger than 1 keep their order
  for (int64_t dim : transpose.as<TransposeAttrs>().order) {
    if (transpose.input(0)->shape()[dim].isConstant(1)) continue;
    if (dim < last) return false;
    last = dim;
  }
  return true;
}

static bool transposeToReshape(Graph& graph, Node* node) {
  if (node->op != &ops::Transpose || node->epilogue || !movesOnlyOnes(*node)) return false;
  ReshapeAttrs attrs;
  attrs.shape = node->output()->shape();
  Node* reshape = graph.add(&ops::Reshape, node->name, {node->input(0)}, std::move(attrs), node);
  replaceValue(graph, node->output(), reshape->output());
  return true;
}

// Every dimension is expanded from 1 or not at all, whatever the symbols turn out to be.
static bool expandsPlainly(const Node& expand) {
  const Shape& from = expand.input(0)->shape();
  const Shape& to = expand.output()->shape();
  for (size_t i = 1; i <= from.size(); ++i)
    if (!from[from.size() - i].isConstant(1) && from[from.size() - i] != to[to.size() - i])
      return false;
  return true;
}

// A Pointwise node broadcasts by itself.
static bool skipExpands(Graph& graph, Node* node) {
  if (node->op != &ops::Pointwise) return false;
  bool changed = false;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    Node* expand = node->inputs[i]->producer;
    if (!expand || expand->op != &ops::Expand || expand->epilogue || !expandsPlainly(*expand))
      continue;
    std::vector<Value*> inputs = node->inputs;
    inputs[i] = expand->input(0);
    if (broadcastShape(inputs, node->name) != node->output()->shape()) continue;
    graph.setInput(node, static_cast<int>(i), expand->input(0));
    graph.eraseIfDead(expand);
    changed = true;
  }
  return changed;
}

static bool visitOnce(Graph& graph) {
  bool changed = false;
  SlicedOperands sliced;
  for (Node* node : graph.nodeList()) {  // in order: inputs are simplified before their readers
    changed |= skipInnerReshape(graph, node);
    changed |= skipExpands(graph, node);
    if (Value* same = sameAs(*node, sliced)) {
      replaceAndErase(graph, node, same);
      changed = true;
    } else if (!transposeToReshape(graph, node)) {
      findSlicedOperands(*node, sliced);
    } else {
      changed = true;
    }
  }
  return changed;
}

bool removeIdentities(Graph& graph, const PassOptions&) {
  bool changed = false;
  while (visitOnce(graph)) changed = true;
  if (changed) graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
