#include "quantize/range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibration/threshold.h"
#include "support/error.h"
#include "support/half.h"

namespace camshaft {
namespace {

constexpr double kLargestF8 = 448;

double thresholdBy(const RangeChoice& choice, const Histogram& magnitudes) {
  switch (choice.method) {
    case RangeMethod::kMinMax:
      return magnitudes.largest();
    case RangeMethod::kPercentile:
      return percentileThreshold(magnitudes, choice.percentile / 100);
    case RangeMethod::kEntropy:
      return entropyThreshold(magnitudes);
    case RangeMethod::kSquaredError:
      return squaredErrorThreshold(magnitudes);
  }
  CAMSHAFT_CHECK(false, "there is no such method");
}

// What clipping one side costs, as squared errors, at each of a number of places from zero to the
// largest element.
class Clipping {
 public:
  static constexpr int kPlaces = 512;

  explicit Clipping(const Histogram& side) : largest_(side.largest()), errors_(kPlaces + 1, 0) {
    const auto counts = side.counts();
    const double width = side.binWidth();
    double beyond = 0, sum = 0, squares = 0;
    auto bin = static_cast<int64_t>(counts.size()) - 1;
    for (int i = kPlaces; i >= 0; --i) {
      const double threshold = place(i);
      for (; bin >= 0 && (static_cast<double>(bin) + 0.5) * width > threshold; --bin) {
        const auto mass = static_cast<double>(counts[static_cast<size_t>(bin)]);
        const double size = (static_cast<double>(bin) + 0.5) * width;
        beyond += mass, sum += mass * size, squares += mass * size * size;
      }
      errors_[static_cast<size_t>(i)] =
          squares - 2 * threshold * sum + threshold * threshold * beyond;
    }
  }
  double place(int i) const { return largest_ * i / kPlaces; }
  double error(int i) const { return errors_[static_cast<size_t>(i)]; }

 private:
  double largest_;
  std::vector<double> errors_;
};

}  // namespace

Range squaredErrorRange(const TensorStatistics& statistics) {
  const Clipping negative(statistics.negative()), positive(statistics.positive());
  const auto elements = static_cast<double>(statistics.magnitudes().total());
  Range best;
  double least = std::numeric_limits<double>::infinity();
  const int firstLow = statistics.negative().total() ? 0 : Clipping::kPlaces;
  for (int low = firstLow; low <= Clipping::kPlaces; ++low)
    for (int high = 0; high <= Clipping::kPlaces; ++high) {
      const double step = (negative.place(low) + positive.place(high)) / 255;
      const double error = elements * step * step / 12 + negative.error(low) + positive.error(high);
      if (error >= least) continue;
      least = error;
      best = {-negative.place(low), positive.place(high)};
    }
  return best;
}

Range chooseRange(const TensorStatistics& statistics, const RangeChoice& choice, bool isSymmetric) {
  if (!isSymmetric && choice.method == RangeMethod::kSquaredError)
    return squaredErrorRange(statistics);
  const double threshold = thresholdBy(choice, statistics.magnitudes());
  if (isSymmetric) return {-threshold, threshold};
  return {-std::min(threshold, statistics.negative().largest()),
          std::min(threshold, statistics.positive().largest())};
}

double clippedShare(const TensorStatistics& statistics, const Range& range) {
  if (statistics.isEmpty()) return 0;
  const auto beyond = [](const Histogram& side, double threshold) {
    int64_t outside = 0;
    const auto counts = side.counts();
    for (size_t bin = 0; bin < counts.size(); ++bin)
      if ((static_cast<double>(bin) + 0.5) * side.binWidth() > threshold) outside += counts[bin];
    // Those of the last bin may all lie below its middle.
    return side.largest() <= threshold ? 0 : outside;
  };
  const int64_t outside =
      beyond(statistics.negative(), -range.low) + beyond(statistics.positive(), range.high);
  return static_cast<double>(outside) / static_cast<double>(statistics.count());
}

Quantizer quantizerFor(const Range& range, DataType type) {
  const double largest = std::max(-range.low, range.high);
  // Nothing but zeros came, for which any scale will do; and none is so small that it is lost.
  const auto scaleOf = [](double scale) {
    return scale > 0 ? std::max(static_cast<float>(scale), std::numeric_limits<float>::min())
                     : 1.0F;
  };
  if (type == DataType::kF8E4M3) return {type, scaleOf(largest / kLargestF8), 0};
  if (type == DataType::kI8) return {type, scaleOf(largest / 127), 0};
  const float scale = scaleOf((range.high - range.low) / 255);
  return {type, scale,
          static_cast<int>(std::clamp(std::nearbyint(-range.low / scale), 0.0, 255.0))};
}

Range Quantizer::range() const {
  if (type == DataType::kF8E4M3) return {-kLargestF8 * scale, kLargestF8 * scale};
  if (type == DataType::kI8) return {-128.0 * scale, 127.0 * scale};
  return {-static_cast<double>(zeroPoint) * scale, (255.0 - zeroPoint) * scale};
}

float Quantizer::rounded(float x) const {
  if (type == DataType::kF8E4M3) {
    const float limit = static_cast<float>(kLargestF8);
    return static_cast<float>(Float8E4M3(std::clamp(x / scale, -limit, limit))) * scale;
  }
  const float low = type == DataType::kI8 ? -128.0F : 0.0F, high = low + 255.0F;
  const auto zero = static_cast<float>(zeroPoint);
  return (std::clamp(std::nearbyint(x / scale) + zero, low, high) - zero) * scale;
}

}  // namespace camshaft
