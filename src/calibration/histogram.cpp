#include "calibration/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace camshaft {

namespace {

// Smaller ones are zeros to any scale; so a bin is never too narrow to count by.
constexpr float kSmallest = 1e-30f, kInfinity = std::numeric_limits<float>::infinity();

bool isCounted(float size) { return size > kSmallest && size < kInfinity; }

}  // namespace

void Histogram::widenTo(double largest) {
  largest_ = largest;
  if (binWidth_ == 0) binWidth_ = largest / kBins;
  int doublings = 0;
  for (; largest_ > binWidth_ * kBins; binWidth_ *= 2) ++doublings;
  for (size_t i = 1; doublings > 0 && i < counts_.size(); ++i) {
    const int64_t count = std::exchange(counts_[i], 0);
    counts_[doublings < 32 ? i >> doublings : 0] += count;
  }
  counts_.resize(std::clamp<size_t>(static_cast<size_t>(largest_ / binWidth_) + 1, 1, kBins));
}

void Histogram::add(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    const float size = std::fabs(value);
    if (size > largest && isCounted(size)) largest = size;
  }
  if (largest > largest_) widenTo(largest);
  const float perBin = binWidth_ > 0 ? static_cast<float>(1 / binWidth_) : 0;
  const auto last = static_cast<int>(counts_.size()) - 1;
  for (const float value : values) {
    const float size = std::fabs(value);
    if (isCounted(size)) {
      ++counts_[static_cast<size_t>(std::min(static_cast<int>(size * perBin), last))];
      ++total_;
    } else if (size <= kSmallest) {
      ++zeros_;
    }
  }
}

Histogram Histogram::of(double binWidth, double largest, int64_t zeros,
                        std::vector<int64_t> counts) {
  Histogram made;
  made.binWidth_ = binWidth;
  made.largest_ = largest;
  made.zeros_ = zeros;
  made.counts_ = std::move(counts);
  made.total_ = std::accumulate(made.counts_.begin(), made.counts_.end(), int64_t{0});
  return made;
}

}  // namespace camshaft
