// Resize and its forerunner Upsample.
#include <algorithm>
#include <cmath>

#include "onnx/ops/reduce.h"
#include "onnx/ops/resize_run_time.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

// floor(size * scale), for a symbolic size with the scale as a fraction of small numbers if it is
// one.
std::optional<Dim> scaled(const NodeImport& node, const Dim& size, double scale) {
  if (!(scale > 0 && scale < 1e6))
    node.invalid("a scale of ", scale, " is not positive and finite");
  if (size.isConstant())
    return Dim(static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * scale)));
  for (int64_t denominator = 1; denominator <= 4096; ++denominator) {
    const double numerator = scale * static_cast<double>(denominator);
    if (std::fabs(numerator - std::round(numerator)) < 1e-6 * numerator)
      return floorDiv(size * static_cast<int64_t>(std::round(numerator)), denominator);
  }
  return std::nullopt;
}

// False when a size has to be computed while running.
bool setScales(const NodeImport& node, const Shape& shape, const std::vector<int64_t>& axes,
               const std::vector<double>& scales, ResizeAttrs& attrs) {
  if (scales.size() != axes.size())
    node.invalid("it has ", scales.size(), " scales for ", axes.size(), " dimensions");
  for (size_t i = 0; i < axes.size(); ++i) {
    std::optional<Dim> size = scaled(node, shape[axes[i]], scales[i]);
    const bool crops = attrs.coordinates == ResizeCoordinates::kCropAndResize;
    if (!size || (crops && !shape[axes[i]].isConstant())) return false;
    if (crops) {
      const size_t rank = shape.size();
      const double part = attrs.roi[axes[i] + rank] - attrs.roi[axes[i]];
      if (!(part >= 0 && part < 1e6)) node.invalid("its region of interest has a size of ", part);
      size = Dim(static_cast<int64_t>(
          std::floor(static_cast<double>(shape[axes[i]].value()) * part * scales[i])));
    }
    attrs.sizes[axes[i]] = *size;
    attrs.scales[axes[i]] = scales[i];
  }
  return true;
}

// One scale for all axes, so that the result fits into or covers the asked sizes, which are known.
void keepKnownAspectRatio(const NodeImport& node, const Shape& shape,
                          const std::vector<int64_t>& axes, bool larger, ResizeAttrs& attrs) {
  double scale = larger ? 0 : 1e30;
  for (const int64_t axis : axes) {
    if (shape[axis].isConstant(0)) node.invalid("it resizes a tensor without elements");
    const double one =
        static_cast<double>(attrs.sizes[axis].value()) / static_cast<double>(shape[axis].value());
    scale = larger ? std::max(scale, one) : std::min(scale, one);
  }
  for (const int64_t axis : axes) {
    attrs.sizes[axis] =
        static_cast<int64_t>(std::floor(static_cast<double>(shape[axis].value()) * scale + 0.5));
    attrs.scales[axis] = scale;
  }
}

ResizeAttrs untouched(const Value* x) {
  ResizeAttrs attrs;
  attrs.sizes = x->shape();
  attrs.scales.assign(static_cast<size_t>(x->rank()), 0);
  return attrs;
}

ResizeMode modeOf(const NodeImport& node) {
  const int mode = node.choice("mode", "nearest", {"nearest", "linear", "cubic", "bilinear"});
  return mode == 3 ? ResizeMode::kLinear : static_cast<ResizeMode>(mode);
}

std::vector<int64_t> resizedAxes(const NodeImport& node, int64_t rank) {
  std::vector<int64_t> axes = node.integers("axes", axisRange(0, rank));
  for (int64_t& axis : axes) axis = node.axis(axis, rank);
  return axes;
}

void setRegion(const NodeImport& node, const std::vector<int64_t>& axes, int64_t rank,
               ResizeAttrs& attrs) {
  attrs.roi.assign(static_cast<size_t>(rank) * 2, 0);
  std::fill(attrs.roi.begin() + rank, attrs.roi.end(), 1);
  const std::vector<double> region = *node.knownNumbers(node.input(1));
  if (region.size() != axes.size() * 2)
    node.invalid("its region of interest has ", region.size(), " numbers for ", axes.size(),
                 " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    attrs.roi[axes[i]] = region[i];
    attrs.roi[axes[i] + rank] = region[i + axes.size()];
  }
}

std::vector<Dim> sizesOf(const NodeImport& node, Value* value, const std::vector<int64_t>& axes) {
  std::vector<Dim> sizes = node.dims(value);
  if (sizes.size() != axes.size())
    node.invalid("it has ", sizes.size(), " sizes for ", axes.size(), " dimensions");
  return sizes;
}

// Element i of a vector, when it is part of a constant: exporters put scales together from ones
// for batch and channels and others that they compute.
std::optional<double> knownElement(const NodeImport& node, const Value* vector, size_t i) {
  if (const auto all = node.knownNumbers(vector)) return all->at(i);
  if (!vector->producer || vector->producer->op != &ops::Concat) return std::nullopt;
  for (const Value* piece : vector->producer->inputs) {
    if (!piece->shape()[0].isConstant()) return std::nullopt;
    const auto length = static_cast<size_t>(piece->shape()[0].value());
    if (i < length) return knownElement(node, piece, i);
    i -= length;
  }
  return std::nullopt;
}

// Scales, or the region they apply to, that are known at run time only. Axes that are known to
// stay are left alone.
Value* resizeByScales(const NodeImport& node, Value* x, const std::vector<int64_t>& axes,
                      Value* scales, const ResizeAttrs& attrs) {
  if (scales->rank() != 1 || !scales->shape()[0].isConstant(static_cast<int64_t>(axes.size())))
    node.invalid("it has scales of type ", scales->type, " for ", axes.size(), " dimensions");
  const bool crops = attrs.coordinates == ResizeCoordinates::kCropAndResize;
  Value* region = crops ? node.cast(node.input(1), DataType::kF32) : nullptr;
  RunTimeResize resize{.axes = axes, .scales = scales, .region = region};
  if (!crops) {
    std::vector<int64_t> moving;
    resize.axes.clear();
    for (size_t i = 0; i < axes.size(); ++i) {
      if (knownElement(node, scales, i) == 1.0) continue;
      resize.axes.push_back(axes[i]);
      moving.push_back(static_cast<int64_t>(i));
    }
    if (moving.size() < axes.size())
      resize.scales = node.add(&ops::Gather, {scales, node.integerVector(moving)}, GatherAttrs{});
  }
  resize.sizes = scaledSizes(node, x, resize.axes, resize.scales, region);
  return resizeAtRunTime(node, x, resize, attrs);
}

}  // namespace

void importResize(NodeImport& node) {
  Value* x = node.input(0);
  ResizeAttrs attrs = untouched(x);
  const std::vector<int64_t> axes = resizedAxes(node, x->rank());
  attrs.mode = modeOf(node);
  const int coordinates =
      node.choice("coordinate_transformation_mode", "half_pixel",
                  {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                   "half_pixel_symmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  if (coordinates == 6) node.unsupported("the coordinates tf_half_pixel_for_nn are not supported");
  attrs.coordinates = static_cast<ResizeCoordinates>(coordinates);
  attrs.nearest = static_cast<ResizeNearest>(
      node.choice("nearest_mode", "round_prefer_floor",
                  {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  attrs.cubicCoefficient = node.number("cubic_coeff_a", -0.75);
  attrs.extrapolation = node.number("extrapolation_value", 0);
  attrs.excludeOutside = node.flag("exclude_outside");
  attrs.antialias = node.flag("antialias");
  const bool crops = attrs.coordinates == ResizeCoordinates::kCropAndResize;

  // Some exporters pass an empty tensor where an input is left out.
  const auto given = [&](int i) -> Value* {
    Value* value = node.optionalInput(i);
    return value && value->rank() == 1 && value->shape()[0].isConstant(0) ? nullptr : value;
  };
  Value *scales = given(2), *sizes = given(3);
  if (!scales && !sizes) node.invalid("it has neither scales nor sizes");
  const int policy =
      node.choice("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  const bool keepsRatio = !scales && policy != 0;
  const bool hasRegion = !crops || node.knownNumbers(node.input(1));
  if (hasRegion && crops) setRegion(node, axes, x->rank(), attrs);
  if (scales) {
    const auto known = node.knownNumbers(scales);
    if (!hasRegion || !known || !setScales(node, x->shape(), axes, *known, attrs))
      return node.setOutput(resizeByScales(node, x, axes, scales, attrs));
  } else {
    const std::vector<Dim> wanted = sizesOf(node, sizes, axes);
    for (size_t i = 0; i < axes.size(); ++i) attrs.sizes[axes[i]] = wanted[i];
    const auto isStaticAlong = [&](const Shape& shape) {
      return std::all_of(axes.begin(), axes.end(),
                         [&](int64_t axis) { return shape[axis].isConstant(); });
    };
    if (keepsRatio && (!isStaticAlong(x->shape()) || !isStaticAlong(attrs.sizes)))
      return node.setOutput(
          resizeAtRunTime(node, x, keepAspectRatio(node, x, axes, wanted, policy == 2), attrs));
    if (keepsRatio) keepKnownAspectRatio(node, x->shape(), axes, policy == 2, attrs);
    if (!hasRegion)
      return node.setOutput(resizeAtRunTime(
          node, x, {.axes = axes, .sizes = wanted, .region = node.input(1)}, attrs));
  }
  node.setOutput(node.add(&ops::Resize, {x}, std::move(attrs)));
}

// Upsample, and Resize at opset 10: scales only, pixel corners as coordinates.
void importUpsample(NodeImport& node) {
  Value* x = node.input(0);
  ResizeAttrs attrs = untouched(x);
  attrs.mode = modeOf(node);
  attrs.coordinates = ResizeCoordinates::kAsymmetric;
  attrs.nearest = ResizeNearest::kFloor;
  std::vector<double> scales = node.numbers("scales");
  if (node.has("height_scale"))
    scales = {1, 1, node.number("height_scale", 1), node.number("width_scale", 1)};
  const std::vector<int64_t> axes = resizedAxes(node, x->rank());
  Value* given = nullptr;
  if (scales.empty()) {
    given = node.input(1);
    scales = node.knownNumbers(given).value_or(scales);
  } else {
    const std::vector<float> values(scales.begin(), scales.end());
    given = node.graph().addConstant<float>(node.name(), DataType::kF32,
                                            {static_cast<int64_t>(values.size())}, values);
  }
  if (scales.empty() || !setScales(node, x->shape(), axes, scales, attrs))
    return node.setOutput(resizeByScales(node, x, axes, given, attrs));
  node.setOutput(node.add(&ops::Resize, {x}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
