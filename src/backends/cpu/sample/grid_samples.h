// GridSample: what grid points are made of, and their values.
#pragma once

#include <cstdint>

namespace camshaft::cpu::sample {

// As ops/sample.h has them.
enum class GridMode : int32_t { kLinear, kNearest, kCubic };
enum class GridPadding : int32_t { kZeros, kBorder, kReflection };

struct GridRules {
  GridMode mode;
  GridPadding padding;
  int32_t alignCorners;
};

inline constexpr int kMostGridAxes = 3;

// What up to kPoints grid points are made of: offsets within an image, -1 outside, where it is
// zero, and weights. Found once, for the images of all channels.
class GridSamples {
 public:
  static constexpr int64_t kPoints = 64;  // a multiple of every vector length

  // `grid` has `axes` coordinates per point, the last dimension's first; `sizes` are the image's.
  void find(const GridRules& rules, const float* grid, int64_t points, const int64_t* sizes,
            int axes);
  void take(const float* image, float* y) const;

 private:
  static constexpr int kMostTaps = 64;  // cubic, in three dimensions
  int taps_ = 0;                        // of each point
  int64_t points_ = 0;
  alignas(64) int32_t offsets_[kMostTaps][kPoints];
  alignas(64) float weights_[kMostTaps][kPoints];
};

}  // namespace camshaft::cpu::sample
