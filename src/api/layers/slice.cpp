#include "api/layers/slice.h"

#include <algorithm>

#include "api/convert.h"
#include "api/tensor.h"
#include "ops/move.h"

namespace camshaft::api {

using nvinfer1::SampleMode;

namespace {

std::optional<PadMode> padModeOf(SampleMode mode) {
  switch (mode) {
    case SampleMode::kWRAP:
      return PadMode::kWrap;
    case SampleMode::kCLAMP:
      return PadMode::kEdge;
    case SampleMode::kFILL:
      return PadMode::kConstant;
    case SampleMode::kREFLECT:
      return PadMode::kReflect;
    default:
      return std::nullopt;
  }
}

// What the slice takes, per axis; starts move when the data is padded first.
struct Cut {
  std::vector<int64_t> axes, steps;
  std::vector<Dim> starts, sizes;
};

Cut cutOf(Emission& at, const SliceParams& params) {
  const int64_t rank = at.input(0)->rank();
  const auto part = [&](size_t input, const std::vector<Dim>& given) {
    return at.has(input) ? at.dims(input) : given;
  };
  Cut cut{{}, {}, part(1, params.start), part(2, params.size)};
  const std::vector<Dim> axes = at.has(5) || params.axes
                                    ? part(5, params.axes.value_or(std::vector<Dim>{}))
                                    : std::vector<Dim>{};
  const bool all = !at.has(5) && !params.axes;
  const size_t count = all ? rank : axes.size();
  const std::vector<Dim> steps = part(3, params.stride);
  if (cut.starts.size() != count || cut.sizes.size() != count || steps.size() != count)
    at.misfit("slices ", count, " dimensions and was given ", cut.starts.size(), " starts, ",
              cut.sizes.size(), " sizes and ", steps.size(), " strides");
  for (size_t i = 0; i < count; ++i) {
    if (!steps[i].isConstant()) at.invalid("needs its strides as constants");
    if (!all && !axes[i].isConstant()) at.unsupported("needs its axes as constants");
    if (cut.sizes[i].isConstant() && cut.sizes[i].value() < 0)
      at.invalid("has a slice of size ", cut.sizes[i]);
    cut.steps.push_back(steps[i].value());
    cut.axes.push_back(all ? static_cast<int64_t>(i) : axisIn(at, axes[i].value(), rank));
  }
  return cut;
}

Dim lastOf(const Cut& cut, size_t i) {
  return cut.starts[i] + (cut.sizes[i] - 1) * Dim(cut.steps[i]);
}

void requireInside(const Emission& at, const Cut& cut) {
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    const Dim &size = at.input(0)->shape()[cut.axes[i]], last = lastOf(cut, i);
    if (!size.isConstant() || cut.sizes[i].isConstant(0)) continue;
    for (const Dim& end : {cut.starts[i], last})
      if (end.isConstant() && (end.value() < 0 || end.value() >= size.value()))
        at.misfit("reads element ", end, " of dimension ", cut.axes[i], ", which has ", size);
  }
}

// Data with what the slice reads outside of it.
Value* padded(Emission& at, Cut& cut, PadMode mode) {
  Value* x = at.input(0);
  PadAttrs attrs;
  attrs.mode = mode;
  attrs.begin = attrs.end = std::vector<Dim>(x->rank(), Dim(0));
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    const Dim last = lastOf(cut, i);
    const Dim low = min(cut.starts[i], last), high = max(cut.starts[i], last);
    attrs.begin[cut.axes[i]] = max(Dim(0) - low, 0);
    attrs.end[cut.axes[i]] = max(high + 1 - x->shape()[cut.axes[i]], 0);
    cut.starts[i] += attrs.begin[cut.axes[i]];
  }
  std::vector<Value*> operands{x};
  if (mode == PadMode::kConstant && at.has(4)) operands.push_back(at.reshape(at.input(4), {}));
  return at.add(&ops::Pad, std::move(operands), std::move(attrs));
}

// A stride of 0 takes one element again and again.
Value* repeated(Emission& at, Value* slice, const Cut& cut) {
  ExpandAttrs attrs;
  attrs.shape = slice->shape();
  for (size_t i = 0; i < cut.steps.size(); ++i)
    if (cut.steps[i] == 0) attrs.shape[cut.axes[i]] = cut.sizes[i];
  return attrs.shape == slice->shape() ? slice : at.add(&ops::Expand, {slice}, std::move(attrs));
}

}  // namespace

std::vector<Value*> SliceParams::emit(Emission& at) const {
  if (mode < SampleMode::kSTRICT_BOUNDS || mode > SampleMode::kREFLECT)
    at.invalid("was given an unknown sample mode ", static_cast<int>(mode));
  Cut cut = cutOf(at, *this);
  Value* x = at.input(0);
  if (const auto pad = padModeOf(mode))
    x = padded(at, cut, *pad);
  else
    requireInside(at, cut);
  SliceAttrs attrs;
  attrs.axes = cut.axes;
  attrs.starts = std::move(cut.starts);
  attrs.sizes = cut.sizes;
  attrs.steps = cut.steps;
  for (size_t i = 0; i < cut.steps.size(); ++i)
    if (cut.steps[i] == 0) attrs.sizes[i] = attrs.steps[i] = 1;
  return {repeated(at, at.add(&ops::Slice, {x}, std::move(attrs)), cut)};
}

Shape SliceParams::pendingSizes(const Emission& at) const {
  const Shape& all = at.input(0)->shape();
  return size.size() == all.size() && areSizes(size) ? size : all;
}

void SliceParams::read(const Node& node) {
  const auto& attrs = node.as<SliceAttrs>();
  start = attrs.starts;
  size = attrs.sizes;
  stride.assign(attrs.steps.begin(), attrs.steps.end());
  axes.emplace(attrs.axes.begin(), attrs.axes.end());
}

void SliceLayer::setDims(std::vector<Dim> Params::* field, const Dims& dims,
                         int32_t input) noexcept {
  change([&](Params& params) { params.*field = makeShape(fromPublic(dims)); }, input);
}

nvinfer1::Dims SliceLayer::view(size_t input, const std::vector<Dim>& values) const noexcept {
  return guarded(reporter(), invalidDims(), [&] {
    return inputs.size() > input && inputs[input] ? invalidDims() : publicDims(values);
  });
}

void SliceLayer::setAxes(const Dims& dims) noexcept {
  change([&](Params& params) { params.axes = makeShape(fromPublic(dims)); }, 5);
}

nvinfer1::Dims SliceLayer::getAxes() const noexcept {
  if (params_.axes || (inputs.size() > 5 && inputs[5]))
    return view(5, params_.axes.value_or(std::vector<Dim>{}));
  nvinfer1::Dims all = inputs[0]->getDimensions();
  for (int32_t i = 0; i < all.nbDims; ++i) all.d[i] = i;
  return all;
}

std::vector<Value*> PaddingParams::emit(Emission& at) const {
  Value* x = at.input(0);
  if (before.size() != 2 || after.size() != 2)
    at.invalid("pads two dimensions and was given ", before.size(), " sizes before and ",
               after.size(), " after; use a slice with kFILL for others");
  if (x->rank() < 2) at.invalid("pads the last two dimensions and got ", x->type);
  PadAttrs attrs;
  attrs.begin = attrs.end = std::vector<Dim>(x->rank(), Dim(0));
  for (size_t i = 0; i < 2; ++i) {
    const size_t axis = x->shape().size() - 2 + i;
    attrs.begin[axis] = before[i];
    attrs.end[axis] = after[i];
    const Dim left = x->shape()[axis] + before[i] + after[i];
    if (left.isConstant() && left.value() < 0)
      at.invalid("crops ", -before[i] - after[i], " of the ", x->shape()[axis],
                 " elements of dimension ", axis);
  }
  return {at.add(&ops::Pad, {x}, std::move(attrs))};
}

namespace {

bool padsLastTwo(const std::vector<Dim>& sizes) {
  return sizes.size() >= 2 && isStatic(sizes) &&
         std::all_of(sizes.begin(), sizes.end() - 2, [](const Dim& d) { return d.isConstant(0); });
}

std::vector<int64_t> lastTwo(const std::vector<Dim>& sizes) {
  return staticDims({sizes.end() - 2, sizes.end()});
}

}  // namespace

bool PaddingParams::canRead(const Node& node) {
  const auto& attrs = node.as<PadAttrs>();
  return attrs.mode == PadMode::kConstant && (!node.hasInput(1) || isZeroConstant(node.input(1))) &&
         padsLastTwo(attrs.begin) && padsLastTwo(attrs.end);
}

void PaddingParams::read(const Node& node) {
  before = lastTwo(node.as<PadAttrs>().begin);
  after = lastTwo(node.as<PadAttrs>().end);
}

void PaddingLayer::setPrePaddingNd(const Dims& padding) noexcept {
  change([&](Params& params) { params.before = fromPublic(padding); });
}
nvinfer1::Dims PaddingLayer::getPrePaddingNd() const noexcept { return toPublic(params_.before); }
void PaddingLayer::setPostPaddingNd(const Dims& padding) noexcept {
  change([&](Params& params) { params.after = fromPublic(padding); });
}
nvinfer1::Dims PaddingLayer::getPostPaddingNd() const noexcept { return toPublic(params_.after); }

}  // namespace camshaft::api
