#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"
#include "backends/cpu/sample/grid_samples.h"

namespace camshaft::cpu::sample {

// As ops/sample.h has them.
enum class Coordinates : int32_t {
  kHalfPixel,
  kAsymmetric,
  kAlignCorners,
  kPytorchHalfPixel,
  kHalfPixelSymmetric,
  kCropAndResize
};
enum class Nearest : int32_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
enum class Sampling : int32_t { kNearest, kLinear, kCubic };

// Input positions on either side that an output position is made of, at most.
inline constexpr double kMostReach = 1e7;

// Dimensions `axis` and `axis` + 1 are resized, or `axis` alone when `axes` is 1.
struct ResizeParams {
  double scales[2];  // of these dimensions; 0: sizes decide
  int32_t axis;
  int32_t axes;
  int32_t linear;
  Coordinates coordinates;
  Nearest nearest;
  int32_t padding = 0;
  bool isValid() const {
    return isAxis(axis) && (axes == 1 || axes == 2) && coordinates >= Coordinates::kHalfPixel &&
           coordinates <= Coordinates::kHalfPixelSymmetric &&
           nearest >= Nearest::kRoundPreferFloor && nearest <= Nearest::kCeil;
  }
};

// Any number of dimensions, by any rule.
struct ResampleParams {
  double scales[kMaxRank] = {};                       // of each dimension; 0: sizes decide
  double starts[kMaxRank] = {}, ends[kMaxRank] = {};  // of the region, where one is cropped
  double cubicCoefficient = 0;
  double extrapolation = 0;  // outside the tensor, where a region is cropped
  uint32_t resized = 0;      // a bit for each dimension that is
  Sampling sampling = Sampling::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  Nearest nearest = Nearest::kFloor;
  int32_t excludesOutside = 0, antialiases = 0;
  int32_t padding = 0;
  bool isValid() const {
    return resized != 0 && resized < (1u << kMaxRank) && sampling >= Sampling::kNearest &&
           sampling <= Sampling::kCubic && coordinates >= Coordinates::kHalfPixel &&
           coordinates <= Coordinates::kCropAndResize && nearest >= Nearest::kRoundPreferFloor &&
           nearest <= Nearest::kCeil;
  }
};

struct GridSampleParams {
  GridRules rules;
  bool isValid() const {
    return rules.mode >= GridMode::kLinear && rules.mode <= GridMode::kCubic &&
           rules.padding >= GridPadding::kZeros && rules.padding <= GridPadding::kReflection;
  }
};

// What one output position is made of along one dimension: input positions, and how much the
// right one counts.
struct Blend {
  int32_t left, right;
  float rightWeight;
};

}  // namespace camshaft::cpu::sample
