// How large the elements of a tensor are, gathered while data streams by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace camshaft {

// Counts of |x| in bins of equal width from zero on. Where something larger comes, neighbouring
// bins are merged and each is twice as wide, so memory is bounded and what was counted stays. Zeros
// are counted apart: every scale has them exactly. What is not finite is left out.
class Histogram {
 public:
  // Twice as many as thresholds are searched among, since merging leaves half of them.
  static constexpr int kBins = 4096;

  void add(std::span<const float> values);

  double largest() const { return largest_; }  // |x|
  double binWidth() const { return binWidth_; }
  int64_t zeros() const { return zeros_; }
  std::span<const int64_t> counts() const { return counts_; }  // up to the largest; none: no data
  int64_t total() const { return total_; }                     // without zeros

  // For those that were written down.
  static Histogram of(double binWidth, double largest, int64_t zeros, std::vector<int64_t> counts);

 private:
  void widenTo(double largest);

  double largest_ = 0, binWidth_ = 0;
  int64_t zeros_ = 0, total_ = 0;
  std::vector<int64_t> counts_;
};

}  // namespace camshaft
