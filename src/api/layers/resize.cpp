#include "api/layers/resize.h"

#include <algorithm>
#include <cmath>

#include "api/convert.h"
#include "api/tensor.h"

namespace camshaft::api {

using nvinfer1::InterpolationMode;
using nvinfer1::ResizeCoordinateTransformation;
using nvinfer1::ResizeRoundMode;
using nvinfer1::ResizeSelector;
using nvinfer1::SampleMode;

namespace {

constexpr std::pair<InterpolationMode, ResizeMode> kModes[] = {
    {InterpolationMode::kNEAREST, ResizeMode::kNearest},
    {InterpolationMode::kLINEAR, ResizeMode::kLinear},
    {InterpolationMode::kCUBIC, ResizeMode::kCubic},
};
constexpr std::pair<ResizeCoordinateTransformation, ResizeCoordinates> kCoordinates[] = {
    {ResizeCoordinateTransformation::kALIGN_CORNERS, ResizeCoordinates::kAlignCorners},
    {ResizeCoordinateTransformation::kASYMMETRIC, ResizeCoordinates::kAsymmetric},
    {ResizeCoordinateTransformation::kHALF_PIXEL, ResizeCoordinates::kHalfPixel},
};
// Coordinates by the formula for an output of one pixel, and those that take the upper one.
constexpr auto kFormula = ResizeCoordinates::kHalfPixel;
constexpr auto kUpper = ResizeCoordinates::kPytorchHalfPixel;
constexpr std::pair<ResizeSelector, bool> kSelectors[] = {
    {ResizeSelector::kFORMULA, false},
    {ResizeSelector::kUPPER, true},
};
constexpr std::pair<ResizeRoundMode, ResizeNearest> kRoundings[] = {
    {ResizeRoundMode::kHALF_UP, ResizeNearest::kRoundPreferCeil},
    {ResizeRoundMode::kHALF_DOWN, ResizeNearest::kRoundPreferFloor},
    {ResizeRoundMode::kFLOOR, ResizeNearest::kFloor},
    {ResizeRoundMode::kCEIL, ResizeNearest::kCeil},
};

template <class A, class B, size_t N>
B ownOf(const Emission& at, const std::pair<A, B> (&table)[N], A value, std::string_view what) {
  for (const auto& [theirs, own] : table)
    if (theirs == value) return own;
  at.invalid("was given an unknown ", what, " ", static_cast<int>(value));
}

template <class A, class B, size_t N>
A publicOf(const std::pair<A, B> (&table)[N], B value) {
  for (const auto& [theirs, own] : table)
    if (own == value) return theirs;
  return table[0].first;
}

// floor(size * scale); a symbolic size needs a scale that is a fraction with a small divisor.
Dim scaled(const Emission& at, const Dim& size, double scale) {
  if (size.isConstant())
    return static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * scale));
  for (int64_t divisor = 1; divisor <= 1024; ++divisor) {
    const double numerator = scale * static_cast<double>(divisor);
    if (std::abs(numerator - std::round(numerator)) < 1e-6 * numerator)
      return floorDiv(size * Dim(std::llround(numerator)), divisor);
  }
  at.unsupported("cannot scale the run-time size ", size, " by ", scale,
                 "; set the output dimensions instead");
}

}  // namespace

std::vector<Value*> ResizeParams::emit(Emission& at) const {
  Value* x = at.input(0);
  ResizeAttrs attrs;
  attrs.mode = ownOf(at, kModes, mode, "interpolation");
  attrs.coordinates = ownOf(at, kCoordinates, coordinates, "coordinate transformation");
  // Of the others the formula itself gives the upper pixel where there is one output.
  if (ownOf(at, kSelectors, selector, "selector") && attrs.coordinates == kFormula)
    attrs.coordinates = kUpper;
  attrs.nearest = ownOf(at, kRoundings, rounding, "rounding");
  attrs.cubicCoefficient = cubicCoefficient;
  attrs.excludeOutside = excludeOutside;
  attrs.scales.assign(x->rank(), 0.0);
  if (at.has(1)) {
    attrs.sizes = at.dims(1);
  } else if (!scales.empty()) {
    if (static_cast<int64_t>(scales.size()) != x->rank())
      at.invalid("was given ", scales.size(), " scales for ", x->type);
    attrs.scales.assign(scales.begin(), scales.end());
    for (int64_t i = 0; i < x->rank(); ++i) {
      if (!(scales[i] > 0)) at.invalid("was given a scale of ", scales[i]);
      attrs.sizes.push_back(scaled(at, x->shape()[i], scales[i]));
    }
  } else {
    attrs.sizes = sizes.empty() ? x->shape() : sizes;
  }
  if (static_cast<int64_t>(attrs.sizes.size()) != x->rank())
    at.invalid("was given ", attrs.sizes.size(), " output dimensions for ", x->type);
  for (const Dim& size : attrs.sizes)
    if (size.isConstant() && size.value() < 1)
      at.invalid("was given an output dimension of ", size);
  return {at.add(&ops::Resize, {x}, std::move(attrs))};
}

bool ResizeParams::canRead(const ResizeAttrs& attrs) {
  const auto isKnown = [&](const auto& entry) { return entry.second == attrs.coordinates; };
  return !attrs.antialias && attrs.roi.empty() &&
         (attrs.coordinates == kUpper ||
          std::any_of(std::begin(kCoordinates), std::end(kCoordinates), isKnown));
}

void ResizeParams::read(const Node& node) {
  const auto& attrs = node.as<ResizeAttrs>();
  mode = publicOf(kModes, attrs.mode);
  const bool takesUpper = attrs.coordinates == kUpper;
  coordinates = publicOf(kCoordinates, takesUpper ? kFormula : attrs.coordinates);
  selector = publicOf(kSelectors, takesUpper);
  rounding = publicOf(kRoundings, attrs.nearest);
  cubicCoefficient = static_cast<float>(attrs.cubicCoefficient);
  excludeOutside = attrs.excludeOutside;
  const bool hasScales =
      std::all_of(attrs.scales.begin(), attrs.scales.end(), [](double scale) { return scale > 0; });
  if (hasScales)
    scales.assign(attrs.scales.begin(), attrs.scales.end());
  else
    sizes = attrs.sizes;
}

void ResizeLayer::setOutputDimensions(const nvinfer1::Dims& dims) noexcept {
  change(
      [&](Params& params) {
        params.sizes = makeShape(fromPublic(dims));
        params.scales.clear();
      },
      1);
}

nvinfer1::Dims ResizeLayer::getOutputDimensions() const noexcept {
  return guarded(reporter(), invalidDims(), [&] {
    if (inputs.size() > 1 && inputs[1]) return invalidDims();
    return params_.sizes.empty() ? outputs[0]->getDimensions() : publicDims(params_.sizes);
  });
}

void ResizeLayer::setScales(const float* scales, int32_t count) noexcept {
  change(
      [&](Params& params) {
        if (!scales || count < 1)
          fail(ErrorKind::kInvalidArgument, "layer '", name, "' was given no scales");
        params.scales.assign(scales, scales + count);
        params.sizes.clear();
      },
      1);
}

int32_t ResizeLayer::getScales(int32_t size, float* scales) const noexcept {
  if (params_.scales.empty()) return -1;
  const size_t count = std::min(params_.scales.size(), static_cast<size_t>(std::max(size, 0)));
  if (scales) std::copy_n(params_.scales.begin(), count, scales);
  return static_cast<int32_t>(params_.scales.size());
}

namespace {

constexpr std::pair<InterpolationMode, GridSampleMode> kGridModes[] = {
    {InterpolationMode::kNEAREST, GridSampleMode::kNearest},
    {InterpolationMode::kLINEAR, GridSampleMode::kLinear},
    {InterpolationMode::kCUBIC, GridSampleMode::kCubic},
};
constexpr std::pair<SampleMode, GridSamplePadding> kGridPaddings[] = {
    {SampleMode::kFILL, GridSamplePadding::kZeros},
    {SampleMode::kCLAMP, GridSamplePadding::kBorder},
    {SampleMode::kREFLECT, GridSamplePadding::kReflection},
};

}  // namespace

std::vector<Value*> GridSampleParams::emit(Emission& at) const {
  requireKnown(outside, "sample mode");
  if (outside == SampleMode::kSTRICT_BOUNDS || outside == SampleMode::kWRAP)
    at.invalid("samples with kCLAMP, kFILL or kREFLECT only");
  GridSampleAttrs attrs;
  attrs.mode = ownOf(at, kGridModes, mode, "interpolation");
  attrs.padding = ownOf(at, kGridPaddings, outside, "sample mode");
  attrs.alignCorners = alignCorners;
  return {at.add(&ops::GridSample, {at.input(0), at.input(1)}, std::move(attrs))};
}

void GridSampleParams::read(const Node& node) {
  const auto& attrs = node.as<GridSampleAttrs>();
  mode = publicOf(kGridModes, attrs.mode);
  outside = publicOf(kGridPaddings, attrs.padding);
  alignCorners = attrs.alignCorners;
}

}  // namespace camshaft::api
