// Resize and its forerunner Upsample.
#include <algorithm>
#include <cmath>

#include "onnx/ops/reduce.h"
#include "ops/sample.h"

namespace camshaft::onnx::importer {

namespace {

// floor(size * scale), for a symbolic size with the scale as a fraction of small numbers.
Dim scaled(const NodeImport& node, const Dim& size, double scale) {
  if (!(scale > 0 && scale < 1e6))
    node.invalid("a scale of ", scale, " is not positive and finite");
  if (size.isConstant())
    return static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * scale));
  for (int64_t denominator = 1; denominator <= 4096; ++denominator) {
    const double numerator = scale * static_cast<double>(denominator);
    if (std::fabs(numerator - std::round(numerator)) < 1e-6 * numerator)
      return floorDiv(size * static_cast<int64_t>(std::round(numerator)), denominator);
  }
  node.unsupported(
      "a scale of ", scale,
      " of a dimension known at run time only is not supported: use a simple fraction");
}

void setScales(const NodeImport& node, const Shape& shape, const std::vector<int64_t>& axes,
               const std::vector<double>& scales, ResizeAttrs& attrs) {
  if (scales.size() != axes.size())
    node.invalid("it has ", scales.size(), " scales for ", axes.size(), " dimensions");
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim size = scaled(node, shape[axes[i]], scales[i]);
    if (attrs.coordinates == ResizeCoordinates::kCropAndResize && shape[axes[i]].isConstant()) {
      const size_t rank = shape.size();
      const double part = attrs.roi[axes[i] + rank] - attrs.roi[axes[i]];
      if (!(part >= 0 && part < 1e6)) node.invalid("its region of interest has a size of ", part);
      size = static_cast<int64_t>(
          std::floor(static_cast<double>(shape[axes[i]].value()) * part * scales[i]));
    }
    attrs.sizes[axes[i]] = size;
    attrs.scales[axes[i]] = scales[i];
  }
}

// One scale for all axes, so that the result fits into or covers the asked sizes.
void keepAspectRatio(const NodeImport& node, const Shape& shape, const std::vector<int64_t>& axes,
                     bool larger, ResizeAttrs& attrs) {
  double scale = larger ? 0 : 1e30;
  for (const int64_t axis : axes) {
    if (!shape[axis].isConstant() || !attrs.sizes[axis].isConstant() || shape[axis].isConstant(0))
      node.unsupported("keep_aspect_ratio_policy needs known sizes");
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

std::vector<int64_t> axesOf(const NodeImport& node, int64_t rank) {
  std::vector<int64_t> axes = node.integers("axes", axisRange(0, rank));
  for (int64_t& axis : axes) axis = node.axis(axis, rank);
  return axes;
}

void setRegion(const NodeImport& node, const std::vector<int64_t>& axes, int64_t rank,
               ResizeAttrs& attrs) {
  attrs.roi.assign(static_cast<size_t>(rank) * 2, 0);
  std::fill(attrs.roi.begin() + rank, attrs.roi.end(), 1);
  const std::vector<double> region = node.constantNumbers(1, "region of interest");
  if (region.size() != axes.size() * 2)
    node.invalid("its region of interest has ", region.size(), " numbers for ", axes.size(),
                 " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    attrs.roi[axes[i]] = region[i];
    attrs.roi[axes[i] + rank] = region[i + axes.size()];
  }
}

}  // namespace

void importResize(NodeImport& node) {
  Value* x = node.input(0);
  ResizeAttrs attrs = untouched(x);
  const std::vector<int64_t> axes = axesOf(node, x->rank());
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
  if (attrs.coordinates == ResizeCoordinates::kCropAndResize)
    setRegion(node, axes, x->rank(), attrs);

  // Some exporters pass an empty tensor where an input is left out.
  const auto isGiven = [&](int i) {
    return node.hasInput(i) &&
           !(node.input(i)->rank() == 1 && node.input(i)->shape()[0].isConstant(0));
  };
  if (isGiven(2)) {
    setScales(node, x->shape(), axes, node.constantNumbers(2, "scales"), attrs);
  } else if (isGiven(3)) {
    const std::vector<Dim> sizes = node.dims(3);
    if (sizes.size() != axes.size())
      node.invalid("it has ", sizes.size(), " sizes for ", axes.size(), " dimensions");
    for (size_t i = 0; i < axes.size(); ++i) attrs.sizes[axes[i]] = sizes[i];
    const int policy = node.choice("keep_aspect_ratio_policy", "stretch",
                                   {"stretch", "not_larger", "not_smaller"});
    if (policy != 0) keepAspectRatio(node, x->shape(), axes, policy == 2, attrs);
  } else {
    node.invalid("it has neither scales nor sizes");
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
  if (scales.empty()) scales = node.constantNumbers(1, "scales");
  setScales(node, x->shape(), axesOf(node, x->rank()), scales, attrs);
  node.setOutput(node.add(&ops::Resize, {x}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
