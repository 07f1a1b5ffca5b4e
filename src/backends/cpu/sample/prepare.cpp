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
                               {"cpu/grid_sample_f32", supportsGridSample, prepareGridSample}};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::sample
