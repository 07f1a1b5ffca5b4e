#include "calibration/threshold.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace camshaft {
namespace {

constexpr int kLevels = 128, kSteps = 127;

// Sums up to each bin, of which any run of bins is a difference.
class Distribution {
 public:
  explicit Distribution(const Histogram& histogram) : histogram_(histogram) {
    const auto counts = histogram.counts();
    mass_.assign(1, 0);
    filled_.assign(1, 0);
    entropy_.assign(1, 0);
    for (const int64_t count : counts) {
      const auto mass = static_cast<double>(count);
      mass_.push_back(mass_.back() + mass);
      filled_.push_back(filled_.back() + (count > 0));
      entropy_.push_back(entropy_.back() + xLogX(mass));
    }
  }

  int bins() const { return static_cast<int>(mass_.size()) - 1; }

  // Of clipping behind the first `kept` bins. With n elements in all, of which p_j lie in bin j and
  // the m in the kept bins are spread over 128 levels, evenly over the filled bins of each as q_j:
  // sum p_j/n log((p_j/n) / (q_j/m)).
  double divergence(int kept) const {
    const double all = mass_.back(), inside = mass_[kept], beyond = all - inside;
    if (inside == 0) return std::numeric_limits<double>::infinity();
    const double last = mass_[kept] - mass_[kept - 1];
    double sum = entropy_[kept] - xLogX(last) + xLogX(last + beyond);  // of p log p
    for (int level = 0; level < kLevels; ++level) {
      const int begin = static_cast<int>(int64_t{level} * kept / kLevels);
      const int end = static_cast<int>(int64_t{level + 1} * kept / kLevels);
      const double mass = mass_[end] - mass_[begin];
      const bool takesBeyond = level == kLevels - 1 && beyond > 0;
      if (mass == 0 && !takesBeyond) continue;
      const int filled = filled_[end] - filled_[begin] + (takesBeyond && last == 0 ? 1 : 0);
      // Nothing lies there for what is clipped to be told from: as if a hundredth of one did.
      const double q = std::max(mass, 0.01) / filled;
      sum -= (mass + (takesBeyond ? beyond : 0)) * std::log(q);
    }
    return sum / all - std::log(all / inside);
  }

  double edge(int bin) const { return (bin + 0.5) * histogram_.binWidth(); }

 private:
  static double xLogX(double x) { return x > 0 ? x * std::log(x) : 0; }

  const Histogram& histogram_;
  std::vector<double> mass_, entropy_;
  std::vector<int> filled_;
};

}  // namespace

double entropyThreshold(const Histogram& histogram) {
  if (histogram.total() == 0) return 0;
  const Distribution distribution(histogram);
  if (distribution.bins() <= kLevels) return histogram.largest();
  int best = distribution.bins();
  double least = std::numeric_limits<double>::infinity();
  const int step = distribution.bins() > Histogram::kBins / 2 ? 2 : 1;
  for (int kept = kLevels; kept <= distribution.bins(); kept += step) {
    const double divergence = distribution.divergence(kept);
    if (divergence >= least) continue;
    least = divergence;
    best = kept;
  }
  if (best == distribution.bins()) return histogram.largest();
  return std::max(distribution.edge(best - 1), squaredErrorThreshold(histogram));
}

double squaredErrorThreshold(const Histogram& histogram) {
  const auto counts = histogram.counts();
  const auto bins = static_cast<int>(counts.size());
  double inside = static_cast<double>(histogram.total()), beyond = 0;  // elements
  double sum = 0, squares = 0;                                         // of those beyond
  double best = histogram.largest(), least = std::numeric_limits<double>::infinity();
  for (int kept = bins; kept > 0; --kept) {
    const double threshold = std::min(kept * histogram.binWidth(), histogram.largest());
    const double step = threshold / kSteps;
    const double clipping = squares - 2 * threshold * sum + threshold * threshold * beyond;
    const double error = inside * step * step / 12 + clipping;
    if (error < least) {
      least = error;
      best = threshold;
    }
    const auto mass = static_cast<double>(counts[kept - 1]);
    const double size = (kept - 0.5) * histogram.binWidth();
    inside -= mass;
    beyond += mass;
    sum += mass * size;
    squares += mass * size * size;
  }
  return best;
}

double percentileThreshold(const Histogram& histogram, double quantile) {
  const auto all = static_cast<double>(histogram.total() + histogram.zeros());
  double below = static_cast<double>(histogram.zeros());
  const auto counts = histogram.counts();
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    below += static_cast<double>(counts[bin]);
    if (below >= quantile * all)
      return std::min(static_cast<double>(bin + 1) * histogram.binWidth(), histogram.largest());
  }
  return histogram.largest();
}

}  // namespace camshaft
