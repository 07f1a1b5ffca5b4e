#include "onnx/ops/reduce.h"
#include "onnx/size.h"
#include "ops/move.h"

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
    const SliceBounds bounds = sliceBounds(node.graph(), x->shape()[axis], starts[i], ends[i], steps[i]);
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
                       node.integers("axes", axisRange(0, static_cast<int64_t>(starts.size()))), std::vector<int64_t>(starts.size(), 1)));
}

void importSlice(NodeImport& node) {
  const std::vector<Dim> starts = node.dims(1), ends = node.dims(2);
  const auto axes = node.hasInput(3) ? node.constantIntegers(3, "axes") : axisRange(0, static_cast<int64_t>(starts.size()));
  const auto steps = node.hasInput(4) ? node.constantIntegers(4, "steps") : std::vector<int64_t>(starts.size(), 1);
  node.setOutput(slice(node, starts, ends, axes, steps));
}

}  // namespace camshaft::onnx::importer
