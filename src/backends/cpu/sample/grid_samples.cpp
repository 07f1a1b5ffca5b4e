#include "backends/cpu/sample/grid_samples.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sample/grid_samples.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::sample::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // storeFirst, ...

// The points of a vector side by side. Tap t of point p is at [t * kPoints + p].
void weighTaps(const float* image, const int32_t* offsets, const float* weights, int taps,
               int64_t points, float* y) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(points);
  for (size_t p = 0; p < total; p += lanes) {
    auto sum = hn::Zero(d);
    for (size_t t = 0; t < static_cast<size_t>(taps); ++t) {
      const size_t at = t * GridSamples::kPoints + p;
      const auto offset = hn::Load(di, offsets + at);
      const auto isOutside = hn::RebindMask(d, hn::Lt(offset, hn::Zero(di)));
      const auto value = hn::GatherIndex(d, image, hn::Max(offset, hn::Zero(di)));
      // Outside is zero, whatever the element read instead: infinities, too.
      sum = hn::MulAdd(hn::Load(d, weights + at), hn::IfThenZeroElse(isOutside, value), sum);
    }
    if (p + lanes <= total)
      hn::StoreU(sum, d, y + p);
    else
      storeFirst(sum, d, y + p, total - p);
  }
}

}  // namespace camshaft::cpu::sample::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::sample {

HWY_EXPORT(weighTaps);

namespace {

constexpr int kMostAxisTaps = 4;

// What a coordinate stands for along one dimension of the image.
struct AxisTaps {
  int count;
  int64_t indices[kMostAxisTaps];  // -1: outside
  float weights[kMostAxisTaps];
};

class GridAxis {
 public:
  GridAxis(const GridRules& rules, int64_t size)
      : rules_(rules),
        size_(size),
        low_(rules.alignCorners ? 0 : -0.5),
        high_(static_cast<double>(size - 1) - low_) {}

  // In f32 as far as rounding decides which element is the nearest.
  AxisTaps taps(float coordinate) const {
    float x = rules_.alignCorners ? (coordinate + 1) / 2 * static_cast<float>(size_ - 1)
                                  : ((coordinate + 1) * static_cast<float>(size_) - 1) / 2;
    x = std::isnan(x) ? -1 : std::clamp(x, -1e9f, 1e9f);
    if (rules_.mode == GridMode::kNearest) x = std::nearbyint(x);
    if (rules_.padding == GridPadding::kReflection) x = static_cast<float>(reflect(x));
    const float floor = std::floor(x), ratio = x - floor;
    const auto left = static_cast<int64_t>(floor);
    switch (rules_.mode) {
      case GridMode::kNearest:
        return {1, {inside(static_cast<int64_t>(x))}, {1}};
      case GridMode::kLinear:
        return {2, {inside(left), inside(left + 1)}, {1 - ratio, ratio}};
      case GridMode::kCubic:
        break;
    }
    AxisTaps taps{.count = 4, .indices = {}, .weights = {}};
    for (int i = 0; i < taps.count; ++i) {
      taps.indices[i] = inside(left + i - 1);
      taps.weights[i] = cubicWeight(static_cast<float>(i - 1) - ratio);
    }
    return taps;
  }

 private:
  // Mirrored at both borders until inside.
  double reflect(double x) const {
    const double range = high_ - low_;
    if (range <= 0) return low_;
    const double beyond = x < low_ ? low_ - x : x > high_ ? x - high_ : 0;
    if (beyond == 0) return x;
    const double turns = std::floor(beyond / range), rest = beyond - turns * range;
    const bool endsLow = (x < low_) == (std::fmod(turns, 2) == 0);
    return endsLow ? low_ + rest : high_ - rest;
  }

  int64_t inside(int64_t index) const {
    if (index >= 0 && index < size_) return index;
    if (rules_.padding == GridPadding::kZeros) return -1;
    if (rules_.padding == GridPadding::kReflection)
      index = static_cast<int64_t>(reflect(static_cast<double>(index)));
    return std::clamp<int64_t>(index, 0, size_ - 1);
  }

  static float cubicWeight(float distance) {
    constexpr float a = -0.75f;
    const float x = std::fabs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  }

  const GridRules& rules_;
  int64_t size_;
  double low_, high_;  // outermost positions, between which reflection keeps
};

}  // namespace

void GridSamples::find(const GridRules& rules, const float* grid, int64_t points,
                       const int64_t* sizes, int axes) {
  points_ = points;
  for (int64_t p = 0; p < points; ++p) {
    // Dimension by dimension, each tap so far is followed by all of the next dimension.
    int64_t offsets[kMostTaps];
    float weights[kMostTaps];
    offsets[0] = 0;
    weights[0] = 1;
    taps_ = 1;
    for (int axis = 0; axis < axes; ++axis) {
      const AxisTaps next = GridAxis(rules, sizes[axis]).taps(grid[p * axes + (axes - 1 - axis)]);
      // From the last, so that what is still to be read is not overwritten.
      for (int t = taps_ - 1; t >= 0; --t) {
        const int64_t row = offsets[t];
        const float weight = weights[t];
        for (int i = next.count - 1; i >= 0; --i) {
          const bool isOutside = row < 0 || next.indices[i] < 0;
          offsets[t * next.count + i] = isOutside ? -1 : row * sizes[axis] + next.indices[i];
          weights[t * next.count + i] = weight * next.weights[i];
        }
      }
      taps_ *= next.count;
    }
    for (int t = 0; t < taps_; ++t) {
      offsets_[t][p] = static_cast<int32_t>(offsets[t]);
      weights_[t][p] = weights[t];
    }
  }
  for (int t = 0; t < taps_; ++t) {  // vectors are read whole
    std::fill(offsets_[t] + points, offsets_[t] + kPoints, -1);
    std::fill(weights_[t] + points, weights_[t] + kPoints, 0.0f);
  }
}

void GridSamples::take(const float* image, float* y) const {
  HWY_DYNAMIC_DISPATCH(weighTaps)(image, offsets_[0], weights_[0], taps_, points_, y);
}

}  // namespace camshaft::cpu::sample
#endif  // HWY_ONCE
