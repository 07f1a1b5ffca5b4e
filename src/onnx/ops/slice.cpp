#include <algorithm>

#include "onnx/formula.h"
#include "onnx/ops/reduce.h"
#include "onnx/size.h"
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
        sliceBounds(node.graph(), x->shape()[axis], starts[i], ends[i], steps[i]);
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
  larger(where(bound < 0, bound + size, bound), static_cast<double>(low)) -
      static_cast<double>(low);
  std::vector<Dim> resolved = node.dims(node.pointwise({bounds, sizeVector}, formula.take()));
  for (Dim& dim : resolved) dim += low;
  return resolved;
}

}  // namespace

void importSlice(NodeImport& node) {
  Value *starts = node.input(1), *ends = node.input(2);
  if (starts->rank() != 1 || !starts->shape()[0].isConstant())
    node.invalid("its starts must be a vector of known length");
  const int64_t count = starts->shape()[0].value();
  const auto axes = node.hasInput(3) ? node.constantIntegers(3, "axes") : axisRange(0, count);
  const auto steps =
      node.hasInput(4) ? node.constantIntegers(4, "steps") : std::vector<int64_t>(axes.size(), 1);
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
