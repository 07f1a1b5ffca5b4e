#include <algorithm>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/run_time_axes.h"
#include "onnx/size.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

Value* slice(const NodeImport& node, const std::vector<Dim>& starts, const std::vector<Dim>& ends,
             const std::vector<int64_t>& axes, const std::vector<int64_t>& steps) {
  Value* x = node.input(0);
  if (starts.size() != ends.size() || axes.size() != starts.size() || steps.size() != starts.size())
    node.invalid("its starts, ends, axes and steps have different lengths");
  node.axes(axes, x->rank());  // refuses repeats
  SliceAttrs attrs;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) node.invalid("its step along axis ", axes[i], " is zero");
    const int64_t axis = node.axis(axes[i], x->rank());
    const SliceBounds bounds =
        sliceBounds(node.inputSizes(), x->shape()[axis], starts[i], ends[i], steps[i]);
    if (bounds.start.isConstant(0) && steps[i] == 1 && bounds.size == x->shape()[axis]) continue;
    attrs.axes.push_back(axis);
    attrs.starts.push_back(bounds.start);
    attrs.sizes.push_back(bounds.size);
    attrs.steps.push_back(steps[i]);
  }
  return attrs.axes.empty() ? x : node.add(&ops::Slice, {x}, std::move(attrs));
}

}  // namespace

void importSlice1(NodeImport& node) {
  const std::vector<int64_t> starts = node.integers("starts");
  node.setOutput(slice(node, makeShape(starts), makeShape(node.integers("ends")),
                       node.integers("axes", axisRange(0, static_cast<int64_t>(starts.size()))),
                       std::vector<int64_t>(starts.size(), 1)));
}

namespace {

// Bounds read at run time may count from the end, which symbolic dimensions can't tell: they are
// resolved as tensors first. For negative steps -1 is "before the first element", so the dimension
// bound is one more than the index.
std::vector<Dim> runtimeBounds(const NodeImport& node, Value* bounds,
                               const std::vector<int64_t>& axes, int64_t low) {
  Value* x = node.input(0);
  std::vector<Dim> sizes;
  for (const int64_t axis : axes) sizes.push_back(x->shape()[node.axis(axis, x->rank())]);
  Value* sizeVector = addDims(node.graph(), node.name(), sizes);
  Formula formula;
  const Term bound = cast(formula.input(0, bounds->dataType()), DataType::kI64);
  const Term size = formula.input(1, DataType::kI64);
  const Term result = larger(where(bound < 0, bound + size, bound), static_cast<double>(low)) -
                      static_cast<double>(low);
  std::vector<Dim> resolved = node.dims(node.pointwise({bounds, sizeVector}, formula.take(result)));
  for (Dim& dim : resolved) dim += low;
  return resolved;
}

// Starts, ends and steps, of any sign, along axes that are known.
struct RunTimeSlice {
  Value *starts, *ends, *steps;
  std::vector<int64_t> axes;
};

RunTimeSlice runTimeSlice(const NodeImport& node) {
  const auto wide = [&](int i) { return node.cast(node.input(i), DataType::kI64); };
  const int64_t rank = node.input(0)->rank();
  RunTimeSlice slice{wide(1), wide(2), nullptr, {}};
  const Dim count = slice.starts->shape().at(0);
  slice.steps = node.hasInput(4) ? wide(4) : node.expand(node.scalar(DataType::kI64, 1), {count});
  const auto known = node.hasInput(3) ? node.knownIntegers(node.input(3)) : std::nullopt;
  if (known) {
    for (const int64_t axis : *known) slice.axes.push_back(node.axis(axis, rank));
    const Shape length{static_cast<int64_t>(known->size())};
    for (Value** bounds : {&slice.starts, &slice.ends, &slice.steps})
      if (!(*bounds)->shape().at(0).isConstant()) *bounds = node.reshape(*bounds, length);
  } else if (!node.hasInput(3) && count.isConstant()) {
    slice.axes = axisRange(0, count.value());
  } else {
    Value* axes = node.hasInput(3) ? node.input(3) : counting(node, DataType::kI64, count);
    constexpr double kEnd = 1e18;
    slice = {spreadOverAxes(node, axes, slice.starts, rank, 0),
             spreadOverAxes(node, axes, slice.ends, rank, kEnd),
             spreadOverAxes(node, axes, slice.steps, rank, 1), axisRange(0, rank)};
  }
  return slice;
}

// The first position along each axis, and how many are taken from there.
struct Positions {
  Value *firsts, *counts;
};

Positions positionsOf(const NodeImport& node, const RunTimeSlice& slice, Value* sizes) {
  const auto formula = [&](bool counts) {
    Formula formula;
    const auto input = [&](int i) { return formula.input(i, DataType::kI64); };
    const Term step = larger(input(2), -1e18), size = input(3), isForward = step > 0;
    const auto resolved = [&](Term bound, double lowest) {
      const Term index = where(bound < 0, bound + size, bound);
      return where(isForward, larger(smaller(index, size), 0),
                   larger(smaller(index, size - 1), lowest));
    };
    const Term first = resolved(input(0), 0), last = resolved(input(1), -1);
    const Term distance = where(isForward, last - first, first - last);
    const Term taken =
        apply(ScalarOp::kFloorDiv, distance - 1, larger(apply(ScalarOp::kAbs, step), 1)) + 1;
    // Of nothing, nothing is taken.
    const Term result = counts ? where(distance > 0, smaller(taken, size), 0) : larger(first, 0);
    return node.pointwise({slice.starts, slice.ends, slice.steps, sizes}, formula.take(result));
  };
  return {formula(false), formula(true)};
}

// With steps of unknown sign nothing is a view: the positions are counted out and gathered.
Value* sliceByPositions(const NodeImport& node) {
  Value* x = node.input(0);
  const RunTimeSlice slice = runTimeSlice(node);
  std::vector<Dim> sizes;
  for (const int64_t axis : slice.axes) sizes.push_back(x->shape()[axis]);
  const Positions positions = positionsOf(node, slice, addDims(node.graph(), node.name(), sizes));
  const std::vector<Dim> counts = boundedSizes(node.graph(), positions.counts, sizes, node.name());
  for (size_t i = 0; i < slice.axes.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    GatherAttrs attrs;
    attrs.axis = slice.axes[i];
    Value* taken = counting(node, elementOf(node, positions.firsts, at),
                            elementOf(node, slice.steps, at), counts[i]);
    x = node.add(&ops::Gather, {x, taken}, attrs);
  }
  return x;
}

}  // namespace

void importSlice(NodeImport& node) {
  Value *starts = node.input(1), *ends = node.input(2);
  const auto isKnown = [&](int i) {
    return !node.hasInput(i) || node.knownIntegers(node.input(i));
  };
  if (starts->rank() != 1 || ends->rank() != 1) node.invalid("its starts and ends must be vectors");
  const bool isCounted = node.hasInput(3) || starts->shape()[0].isConstant();
  if (!isKnown(3) || !isKnown(4) || !isCounted) return node.setOutput(sliceByPositions(node));
  const auto axes = node.hasInput(3) ? *node.knownIntegers(node.input(3))
                                     : axisRange(0, node.rank(starts->shape()[0].value()));
  // As many as there are axes, where only the run knows their number.
  const Shape length{static_cast<int64_t>(axes.size())};
  if (!starts->shape()[0].isConstant()) starts = node.reshape(starts, length);
  if (!ends->shape()[0].isConstant()) ends = node.reshape(ends, length);
  const auto steps =
      node.hasInput(4) ? *node.knownIntegers(node.input(4)) : std::vector<int64_t>(axes.size(), 1);
  const bool backwards =
      std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step < 0; });
  const auto boundsOf = [&](Value* bounds, int64_t low) {
    const bool known = bounds->contents || node.knownIntegers(bounds);
    return known ? node.dims(bounds) : runtimeBounds(node, bounds, axes, low);
  };
  const std::vector<Dim> first = boundsOf(starts, 0);
  node.setOutput(slice(node, first, boundsOf(ends, backwards ? -1 : 0), axes, steps));
}

}  // namespace camshaft::onnx::importer
