#include "backends/cpu/sample/positions.h"

#include <algorithm>
#include <cmath>

namespace camshaft::cpu::sample {

namespace {

double exactPosition(Coordinates coordinates, const ResizedDimension& dimension, double x) {
  const double scale = scaleOf(dimension), last = static_cast<double>(dimension.in - 1);
  const double resized = scale * static_cast<double>(dimension.in);  // before it was rounded
  const double halfPixel = (x + 0.5) / scale - 0.5;
  switch (coordinates) {
    case Coordinates::kHalfPixel:
      return halfPixel;
    case Coordinates::kAsymmetric:
      return x / scale;
    case Coordinates::kAlignCorners:
      return resized == 1 ? 0 : x * last / (resized - 1);
    case Coordinates::kPytorchHalfPixel:
      return dimension.out > 1 ? halfPixel : 0;
    case Coordinates::kHalfPixelSymmetric:
      return static_cast<double>(dimension.in) / 2 *
                 (1 - static_cast<double>(dimension.out) / resized) +
             halfPixel;
    case Coordinates::kCropAndResize: {
      const double width = (dimension.end - dimension.start) * last;
      return dimension.start * last + (resized == 1 ? width / 2 : x * width / (resized - 1));
    }
  }
  return halfPixel;
}

}  // namespace

double scaleOf(const ResizedDimension& dimension) {
  if (dimension.scale != 0) return dimension.scale;
  return static_cast<double>(dimension.out) / static_cast<double>(dimension.in);
}

double sourcePosition(Coordinates coordinates, const ResizedDimension& dimension, int64_t x) {
  constexpr double kFar = 1e15;
  const double exact = exactPosition(coordinates, dimension, static_cast<double>(x));
  return exact > -kFar ? std::min(exact, kFar) : -kFar;
}

Neighbour::Neighbour(double position)
    : left(static_cast<int64_t>(std::ceil(position)) - 1),
      ratio(position - static_cast<double>(left)) {}

bool picksRight(Nearest nearest, double ratio) {
  switch (nearest) {
    case Nearest::kRoundPreferFloor:
      return ratio > 0.5;
    case Nearest::kRoundPreferCeil:
      return ratio >= 0.5;
    case Nearest::kFloor:
      return ratio == 1;
    case Nearest::kCeil:
      return true;
  }
  return false;
}

}  // namespace camshaft::cpu::sample
