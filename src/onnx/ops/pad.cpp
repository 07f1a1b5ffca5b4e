#include "onnx/ops/run_time_axes.h"
#include "onnx/size.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

void importPads(NodeImport& node, const std::vector<Dim>& pads, std::vector<int64_t> axes,
                Value* value) {
  Value* x = node.input(0);
  if (pads.size() != axes.size() * 2)
    node.invalid("it has ", pads.size(), " pads for ", axes.size(), " dimensions");
  PadAttrs attrs;
  attrs.mode = static_cast<PadMode>(
      node.choice("mode", "constant", {"constant", "reflect", "edge", "wrap"}));
  attrs.begin.assign(static_cast<size_t>(x->rank()), Dim(0));
  attrs.end = attrs.begin;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = node.axis(axes[i], x->rank());
    attrs.begin[axis] = pads[i];
    attrs.end[axis] = pads[i + axes.size()];
  }
  std::vector<Value*> inputs{x};
  if (value && attrs.mode == PadMode::kConstant)
    inputs.push_back(node.cast(node.reshape(value, {}), x->dataType()));
  node.setOutput(node.add(&ops::Pad, std::move(inputs), std::move(attrs)));
}

}  // namespace

void importPad1(NodeImport& node) {
  const std::vector<int64_t> pads = node.integers(node.opset() < 2 ? "paddings" : "pads");
  Value* x = node.input(0);
  importPads(node, makeShape(pads), axisRange(0, x->rank()),
             node.scalar(x->dataType(), node.number("value", 0)));
}

namespace {

// Pads of axes known at run time only, as those of every axis.
Value* padsOfAllAxes(const NodeImport& node, Value* pads) {
  Value* axes = node.input(3, 1);
  const Dim count = axes->shape()[0];
  const int64_t rank = node.input(0)->rank();
  std::vector<Value*> halves;
  for (const Dim& start : {Dim(0), count}) {
    SliceAttrs half;
    half.axes = {0};
    half.starts = {start};
    half.sizes = {count};
    half.steps = {1};
    halves.push_back(
        spreadOverAxes(node, axes, node.add(&ops::Slice, {pads}, std::move(half)), rank, 0));
  }
  return node.add(&ops::Concat, std::move(halves), ConcatAttrs{});
}

}  // namespace

void importPad(NodeImport& node) {
  Value* x = node.input(0);
  Value* pads = node.input(1, 1);
  std::vector<int64_t> axes = axisRange(0, x->rank());
  if (node.hasInput(3)) {
    if (const auto known = node.knownIntegers(node.input(3)))
      axes = *known;
    else
      pads = padsOfAllAxes(node, pads);
  }
  // Negative pads crop, no more than there is.
  std::vector<Dim> low;
  for (int half = 0; half < 2; ++half)
    for (const int64_t axis : axes) low.push_back(Dim(0) - x->shape()[node.axis(axis, x->rank())]);
  importPads(node, dimsFrom(node, pads, low), axes, node.optionalInput(2));
}

// Crops or pads with zeros, centred, so that the axes get the given sizes.
void importCenterCropPad(NodeImport& node) {
  Value* x = node.input(0);
  const std::vector<Dim> sizes = node.dims(1);
  const std::vector<int64_t> axes = node.integers("axes", axisRange(0, x->rank()));
  if (sizes.size() != axes.size())
    node.invalid("it has ", sizes.size(), " sizes for ", axes.size(), " axes");
  PadAttrs pad;
  pad.begin.assign(static_cast<size_t>(x->rank()), Dim(0));
  pad.end = pad.begin;
  SliceAttrs crop;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = node.axis(axes[i], x->rank());
    const Dim missing = sizes[i] - x->shape()[axis];
    const Dim added = atLeast(node.inputSizes(), missing, 0);
    const Dim removed = atLeast(node.inputSizes(), Dim(0) - missing, 0);
    pad.begin[axis] = floorDiv(added, 2);
    pad.end[axis] = added - pad.begin[axis];
    crop.axes.push_back(axis);
    crop.starts.push_back(floorDiv(removed, 2));
    crop.sizes.push_back(x->shape()[axis] - removed);
    crop.steps.push_back(1);
  }
  Value* cropped = node.add(&ops::Slice, {x}, std::move(crop));
  node.setOutput(node.add(&ops::Pad, {cropped}, std::move(pad)));
}

}  // namespace camshaft::onnx::importer
