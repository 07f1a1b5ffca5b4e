#include "backends/cpu/sample/taps.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace camshaft::cpu::sample {

Taps::Taps(const ResampleParams& params, const ResizedDimension& dimension)
    : params_(&params), dimension_(dimension) {
  if (params.sampling == Sampling::kNearest) return;
  // Antialiasing widens the curve when shrinking, so that it covers every input position.
  if (params.antialiases) narrowing_ = std::min(scaleOf(dimension), 1.0);
  const double reach = (params.sampling == Sampling::kLinear ? 1 : 2) / narrowing_;
  if (!(reach > 0 && reach < kMostReach))
    fail(ErrorKind::kInvalidArgument, "a resize to ", dimension.out, " of ", dimension.in,
         " elements shrinks too much");
  first_ = static_cast<int64_t>(std::floor(-reach)) + 1;
  count_ = 2 - 2 * first_;
}

int64_t Taps::bytes() const {
  return static_cast<int64_t>(sizeof(*places_) + sizeof(*weights_)) * count_ * dimension_.out;
}

void Taps::fill(std::byte* memory) {
  places_ = reinterpret_cast<int32_t*>(memory);
  weights_ = reinterpret_cast<float*>(places_ + count_ * dimension_.out);
  for (int64_t x = 0; x < dimension_.out; ++x) fillPosition(x);
}

// A triangle, or Keys' cubic.
double Taps::weightAt(double distance) const {
  const double x = std::fabs(distance), a = params_->cubicCoefficient;
  if (params_->sampling == Sampling::kLinear) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

void Taps::fillPosition(int64_t x) {
  const int64_t in = dimension_.in;
  const double position = sourcePosition(params_->coordinates, dimension_, x);
  const Neighbour at(position);
  const auto put = [&](int64_t tap, int64_t place, double weight) {
    places_[tap * dimension_.out + x] = static_cast<int32_t>(std::clamp<int64_t>(place, 0, in - 1));
    weights_[tap * dimension_.out + x] = static_cast<float>(weight);
  };
  if (params_->sampling == Sampling::kNearest) {
    put(0, at.left + picksRight(params_->nearest, at.ratio), 1);
  } else {
    const auto weightOf = [&](int64_t tap) {
      const int64_t place = at.left + first_ + tap;
      if (params_->excludesOutside && (place < 0 || place >= in)) return 0.0;
      return weightAt((static_cast<double>(first_ + tap) - at.ratio) * narrowing_);
    };
    double sum = 0;
    for (int64_t tap = 0; tap < count_; ++tap) sum += weightOf(tap);
    const bool isScaled = sum != 0 && (params_->antialiases || params_->excludesOutside);
    for (int64_t tap = 0; tap < count_; ++tap)
      put(tap, at.left + first_ + tap, weightOf(tap) / (isScaled ? sum : 1));
  }
  const bool isOutside = params_->coordinates == Coordinates::kCropAndResize &&
                         !(position >= 0 && position <= static_cast<double>(in - 1));
  if (!isOutside) return;
  for (int64_t tap = 0; tap < count_; ++tap) put(tap, 0, 0);
  places_[x] = -1;
}

}  // namespace camshaft::cpu::sample
