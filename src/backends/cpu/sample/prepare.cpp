#include <algorithm>
#include <cmath>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/prepare_common.h"
#include "backends/cpu/sample/params.h"
#include "ops/sample.h"

namespace camshaft::cpu::sample {

namespace {

// The dimensions that change, as [first, last]; empty when first > last.
struct Resized {
  int first, last = -1;
  explicit Resized(const Node& node) {
    const auto& attrs = node.as<ResizeAttrs>();
    const Shape& x = node.input(0)->shape();
    first = static_cast<int>(x.size());
    for (int i = 0; i < static_cast<int>(x.size()); ++i) {
      if (attrs.sizes[i] == x[i] && (attrs.scales[i] == 0 || attrs.scales[i] == 1)) continue;
      first = std::min(first, i);
      last = i;
    }
  }
};

Verdict supportsResize(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainBytes(node, &ops::Resize); !verdict) return verdict;
  const auto& attrs = node.as<ResizeAttrs>();
  const DataType type = node.output()->dataType();
  if (attrs.mode == ResizeMode::kCubic) return Verdict::no("no cubic sampling");
  if (attrs.antialias || attrs.excludeOutside)
    return Verdict::no("neither antialiasing nor excluding the outside");
  if (attrs.coordinates == ResizeCoordinates::kCropAndResize) return Verdict::no("does not crop");
  const bool isByte = type == DataType::kU8 || type == DataType::kI8;
  if (attrs.mode == ResizeMode::kLinear && type != DataType::kF32 && !isByte)
    return Verdict::no("linear sampling only of f32 and bytes");
  const Resized resized(node);
  if (resized.first > resized.last) return Verdict::no("resizes no dimension");
  if (resized.last - resized.first > 1)
    return Verdict::no("resizes more than two neighbouring dimensions");
  return Verdict::yes();
}

// Those that change, as bits.
uint32_t resizedDimensions(const Node& node) {
  const auto& attrs = node.as<ResizeAttrs>();
  const Shape& x = node.input(0)->shape();
  const bool crops = attrs.coordinates == ResizeCoordinates::kCropAndResize;
  uint32_t resized = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool isWhole = !crops || (attrs.roi[i] == 0 && attrs.roi[x.size() + i] == 1);
    const bool isScaled = attrs.scales[i] != 0 && attrs.scales[i] != 1;
    if (attrs.sizes[i] != x[i] || isScaled || !isWhole) resized |= 1u << i;
  }
  return resized;
}

Verdict supportsResample(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32(node, &ops::Resize); !verdict) return verdict;
  return resizedDimensions(node) ? Verdict::yes() : Verdict::no("resizes no dimension");
}

Prepared prepareResize(const Node& node, const BuildContext& context, int64_t) {
  static_assert(static_cast<int>(ResizeCoordinates::kHalfPixelSymmetric) ==
                static_cast<int>(Coordinates::kHalfPixelSymmetric));
  static_assert(static_cast<int>(ResizeNearest::kCeil) == static_cast<int>(Nearest::kCeil));
  const auto& attrs = node.as<ResizeAttrs>();
  const Resized resized(node);
  ResizeParams params{.axis = resized.first,
                      .axes = resized.last - resized.first + 1,
                      .linear = attrs.mode == ResizeMode::kLinear,
                      .coordinates = static_cast<Coordinates>(attrs.coordinates),
                      .nearest = static_cast<Nearest>(attrs.nearest)};
  Dim positions = 1;  // for a dimension that is not there
  for (int i = 0; i < params.axes; ++i) {
    params.scales[i] = attrs.scales[params.axis + i];
    positions += attrs.sizes[params.axis + i];
  }
  Prepared prepared = preparedWith(node, params);
  prepared.workspaceBytes = positions * static_cast<int64_t>(sizeof(Blend));
  if (params.linear && node.output()->dataType() != DataType::kF32) {
    const Shape& x = node.input(0)->shape();
    const Dim row = numElements(Shape(x.begin() + resized.last, x.end()));
    prepared.workspaceBytes += row * (context.threads * static_cast<int64_t>(sizeof(float)));
  }
  return prepared;
}

// As many as Taps finds for a dimension, or a few more.
Dim mostTaps(const ResizeAttrs& attrs, const Dim& in, const Dim& out, double scale) {
  if (attrs.mode == ResizeMode::kNearest) return 1;
  const int64_t reach = attrs.mode == ResizeMode::kLinear ? 1 : 2;
  if (!attrs.antialias || scale >= 1) return 2 * reach;
  if (scale > 0)
    return 2 * static_cast<int64_t>(
                   std::ceil(std::min(static_cast<double>(reach) / scale, kMostReach)));
  return max(2 * reach, 2 * ceilDiv(reach * in, max(out, 1)) + 2);
}

Prepared prepareResample(const Node& node, const BuildContext& context, int64_t) {
  static_assert(static_cast<int>(ResizeMode::kCubic) == static_cast<int>(Sampling::kCubic));
  static_assert(static_cast<int>(ResizeCoordinates::kCropAndResize) ==
                static_cast<int>(Coordinates::kCropAndResize));
  const auto& attrs = node.as<ResizeAttrs>();
  const Shape& x = node.input(0)->shape();
  ResampleParams params{.cubicCoefficient = attrs.cubicCoefficient,
                        .extrapolation = attrs.extrapolation,
                        .resized = resizedDimensions(node),
                        .sampling = static_cast<Sampling>(attrs.mode),
                        .coordinates = static_cast<Coordinates>(attrs.coordinates),
                        .nearest = static_cast<Nearest>(attrs.nearest),
                        .excludesOutside = attrs.excludeOutside,
                        .antialiases = attrs.antialias};
  Dim tapBytes = 0, rowElements = 1;
  for (size_t i = 0; i < x.size(); ++i) {
    params.scales[i] = attrs.scales[i];
    if (attrs.coordinates == ResizeCoordinates::kCropAndResize) {
      params.starts[i] = attrs.roi[i];
      params.ends[i] = attrs.roi[x.size() + i];
    }
    if (!(params.resized >> i & 1)) continue;
    constexpr int64_t kTapBytes = sizeof(int32_t) + sizeof(float);
    tapBytes += kTapBytes * attrs.sizes[i] * mostTaps(attrs, x[i], attrs.sizes[i], attrs.scales[i]);
    rowElements = numElements(Shape(x.begin() + static_cast<int64_t>(i), x.end()));
  }
  Prepared prepared = preparedWith(node, params);
  prepared.workspaceBytes =
      tapBytes + rowElements * (context.threads * static_cast<int64_t>(sizeof(float)));
  return prepared;
}

Verdict supportsGridSample(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32(node, &ops::GridSample); !verdict) return verdict;
  const bool isFlat = node.input(0)->rank() - 2 <= kMostGridAxes;
  return isFlat ? Verdict::yes() : Verdict::no("more than three spatial dimensions");
}

Prepared prepareGridSample(const Node& node, const BuildContext&, int64_t) {
  static_assert(static_cast<int>(GridSampleMode::kCubic) == static_cast<int>(GridMode::kCubic));
  static_assert(static_cast<int>(GridSamplePadding::kReflection) ==
                static_cast<int>(GridPadding::kReflection));
  const auto& attrs = node.as<GridSampleAttrs>();
  return preparedWith(
      node, GridSampleParams{{static_cast<GridMode>(attrs.mode),
                              static_cast<GridPadding>(attrs.padding), attrs.alignCorners}});
}

constexpr Kernel kKernels[] = {{"cpu/resize", supportsResize, prepareResize},
                               {"cpu/resample_f32", supportsResample, prepareResample},
                               {"cpu/grid_sample_f32", supportsGridSample, prepareGridSample}};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::sample
