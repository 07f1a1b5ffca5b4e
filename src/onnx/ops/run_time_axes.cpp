#include "onnx/ops/run_time_axes.h"

#include <cstdlib>

#include "onnx/formula.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/select.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

// How many axes there are, which a rank depends on: tensors of a graph have one. A model that
// declares the output says it.
int64_t axisCount(const NodeImport& node, const Value* x, const Value* axes) {
  if (axes->rank() == 0) return 1;
  if (axes->rank() == 1 && axes->shape()[0].isConstant())
    return node.rank(axes->shape()[0].value());
  const std::optional<int64_t> declared = node.declaredRank(0);
  if (axes->rank() != 1 || !declared)
    node.unsupported("its axes ('", axes->name,
                     "') are known at run time only, and so is their number, which the rank of "
                     "its output depends on: fold them when exporting, or declare the output's "
                     "shape");
  const int64_t count = std::abs(*declared - x->rank());
  requireSize(node, axes->shape()[0], "axes", count);
  return count;
}

Value* sizesOf(const NodeImport& node, const Value* x) {
  return addDims(node.graph(), node.name(), x->shape());
}

// mask ? a : b, for i64 tensors; the mask is 0 or 1.
Value* choose(const NodeImport& node, Value* mask, Value* a, Value* b) {
  Formula formula;
  const Term isSet = formula.input(0, DataType::kI64) != 0;
  const Term result =
      where(isSet, formula.input(1, a->dataType()), formula.input(2, b->dataType()));
  return node.pointwise({mask, a, b}, formula.take(result));
}

// x in the shape that is left without the axes of the mask, which are `count`.
Value* dropAxes(const NodeImport& node, Value* x, Value* mask, int64_t count) {
  Value* others = node.binary(ScalarOp::kSub, node.scalar(DataType::kI64, 1), mask);
  const Node* search = node.addNode(&ops::NonZero, {others}, NoAttrs{});
  const int64_t left = x->rank() - count;
  if (left < 0) node.invalid("it has ", count, " axes for a tensor of rank ", x->rank());
  Value* kept = node.reshape(takeResults(node.graph(), search->output(0), left), {left});
  Value* sizes = node.add(&ops::Gather, {sizesOf(node, x), kept}, GatherAttrs{});
  return node.reshape(x, node.dims(sizes));
}

}  // namespace

Value* elementOf(const NodeImport& node, Value* vector, int64_t i) {
  SliceAttrs attrs;
  attrs.axes = {0};
  attrs.starts = {i};
  attrs.sizes = {1};
  attrs.steps = {1};
  return node.reshape(node.add(&ops::Slice, {vector}, std::move(attrs)), {});
}

Value* spreadOverAxes(const NodeImport& node, Value* axes, Value* values, int64_t rank,
                      double missing) {
  Value* everywhere = node.expand(node.scalar(DataType::kI64, missing), {rank});
  return node.add(&ops::ScatterElements,
                  {everywhere, node.cast(axes, DataType::kI64), node.cast(values, DataType::kI64)},
                  ScatterElementsAttrs{});
}

Value* axisMask(const NodeImport& node, Value* axes, int64_t rank) {
  const Dim count = axes->rank() == 0 ? Dim(1) : axes->shape()[0];
  axes = node.reshape(axes, {count});
  return spreadOverAxes(node, axes, node.expand(node.scalar(DataType::kI64, 1), {count}), rank, 0);
}

// One axis after the other: the reduced axis and the whole one lie side by side, and a slice takes
// what is asked for.
Value* reduceAtRunTime(const NodeImport& node, ReduceKind kind, Value* x, Value* axes,
                       bool keepDims) {
  const int64_t rank = x->rank();
  Value* one = node.scalar(DataType::kI64, 1);
  Value* mask = axisMask(node, axes, rank);
  if (!axes->shape().empty() && !axes->shape()[0].isConstant() &&
      !node.flag("noop_with_empty_axes"))  // no axes at all stand for every axis
    mask = choose(node, reduce(node, ReduceKind::kMax, mask, {0}), mask, one);
  if (kind == ReduceKind::kSumSquare) x = node.binary(ScalarOp::kMul, x, x);
  const bool sums = kind == ReduceKind::kSumSquare || kind == ReduceKind::kLogSum;
  std::vector<Dim> most;
  for (const Dim& size : x->shape()) most.push_back(max(size, 1));
  const std::vector<Dim> starts =
      boundedSizes(node.graph(), node.binary(ScalarOp::kSub, one, mask),
                   std::vector<Dim>(static_cast<size_t>(rank), Dim(1)), node.name());
  const std::vector<Dim> sizes =
      boundedSizes(node.graph(), choose(node, mask, one, sizesOf(node, x)), most, node.name());
  Value* y = x;
  for (int64_t axis = 0; axis < rank; ++axis) {
    ConcatAttrs beside;
    beside.axis = axis;
    Value* reduced = reduce(node, sums ? ReduceKind::kSum : kind, y, {axis});
    SliceAttrs taken;
    taken.axes = {axis};
    taken.starts = {starts[axis]};
    taken.sizes = {sizes[axis]};
    taken.steps = {1};
    y = node.add(&ops::Slice, {node.add(&ops::Concat, {reduced, y}, beside)}, std::move(taken));
  }
  if (kind == ReduceKind::kLogSum) y = node.unary(ScalarOp::kLog, y);
  return keepDims ? y : dropAxes(node, y, mask, axisCount(node, x, axes));
}

Value* cumulateAtRunTime(const NodeImport& node, Value* x, Value* axis, CumSumAttrs attrs) {
  Value* mask = axisMask(node, axis, x->rank());
  Value* y = x;
  for (int64_t i = 0; i < x->rank(); ++i) {
    attrs.axis = i;
    y = choose(node, elementOf(node, mask, i), node.add(&ops::CumSum, {x}, attrs), y);
  }
  return y;
}

Value* squeezeAtRunTime(const NodeImport& node, Value* x, Value* axes) {
  const int64_t count = axisCount(node, x, axes);
  return dropAxes(node, x, axisMask(node, axes, x->rank()), count);
}

// Of the new shape, dimension i is 1 where the mask is set, else the next one of the old.
Value* unsqueezeAtRunTime(const NodeImport& node, Value* x, Value* axes) {
  const int64_t rank = x->rank() + axisCount(node, x, axes);
  if (x->rank() == 0) return node.reshape(x, Shape(static_cast<size_t>(rank), Dim(1)));
  Value* mask = axisMask(node, axes, rank);
  Value* others = node.binary(ScalarOp::kSub, node.scalar(DataType::kI64, 1), mask);
  CumSumAttrs before;
  before.exclusive = true;
  Value* position = node.binary(ScalarOp::kMin, node.add(&ops::CumSum, {others}, before),
                                static_cast<double>(x->rank() - 1));
  Value* old = node.add(&ops::Gather, {sizesOf(node, x), position}, GatherAttrs{});
  return node.reshape(x, node.dims(choose(node, mask, node.scalar(DataType::kI64, 1), old)));
}

}  // namespace camshaft::onnx::importer
