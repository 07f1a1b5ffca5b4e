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
  kHalfPixelSymmetric
};
enum class Nearest : int32_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

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
