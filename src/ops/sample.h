// Operators that sample between elements.
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class ResizeMode { kNearest, kLinear, kCubic };
enum class ResizeCoordinates {
  kHalfPixel,
  kAsymmetric,
  kAlignCorners,
  kPytorchHalfPixel,
  kHalfPixelSymmetric,
  kCropAndResize,
};
enum class ResizeNearest { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

// Resize(x): `sizes` is the output shape in full. `scales` holds out/in as the model gave it where
// it did (coordinates use it), and 0 where the scale is sizes/in.
struct ResizeAttrs : AttrsOf<ResizeAttrs> {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  std::vector<Dim> sizes;      // one per dimension of x
  std::vector<double> scales;  // one per dimension of x
  std::vector<double> roi;     // starts then ends, one per dimension; kCropAndResize only
  double cubicCoefficient = -0.75;
  double extrapolation = 0;  // value outside x; kCropAndResize only
  bool excludeOutside = false;
  bool antialias = false;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"};
    static constexpr std::string_view kCoordinates[] = {
        "half_pixel",         "asymmetric",           "align_corners",
        "pytorch_half_pixel", "half_pixel_symmetric", "crop_and_resize"};
    static constexpr std::string_view kNearest[] = {"round_prefer_floor", "round_prefer_ceil",
                                                    "floor", "ceil"};
    visit("mode", mode, kModes);
    visit("coordinates", coordinates, kCoordinates);
    visit("nearest", nearest, kNearest);
    visit("sizes", sizes);
    visit("scales", scales);
    visit("roi", roi);
    visit("cubic_coefficient", cubicCoefficient);
    visit("extrapolation", extrapolation);
    visit("exclude_outside", excludeOutside);
    visit("antialias", antialias);
  }
};

enum class GridSampleMode { kLinear, kNearest, kCubic };
enum class GridSamplePadding { kZeros, kBorder, kReflection };

// GridSample(x, grid): as ONNX, over two or three spatial dimensions.
struct GridSampleAttrs : AttrsOf<GridSampleAttrs> {
  GridSampleMode mode = GridSampleMode::kLinear;
  GridSamplePadding padding = GridSamplePadding::kZeros;
  bool alignCorners = false;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
    static constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
    visit("mode", mode, kModes);
    visit("padding", padding, kPaddings);
    visit("align_corners", alignCorners);
  }
};

}  // namespace camshaft
