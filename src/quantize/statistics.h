// What is known of a tensor from data: how its elements and its channels lie.
#pragma once

#include <span>
#include <vector>

#include "calibration/histogram.h"

namespace camshaft {

// Gathered while tensors stream by.
class TensorStatistics {
 public:
  // Channels are those of dimension 1 of what convolutions read, and else of the last.
  explicit TensorStatistics(bool isConvolution = false) : isConvolution_(isConvolution) {}

  void add(std::span<const int64_t> dims, std::span<const float> values);

  const Histogram& magnitudes() const { return magnitudes_; }
  const Histogram& negative() const { return negative_; }  // of -x, where x < 0
  const Histogram& positive() const { return positive_; }
  int64_t count() const { return magnitudes_.total() + magnitudes_.zeros(); }
  bool isEmpty() const { return count() == 0; }

  std::span<const float> channelLargest() const { return largest_; }  // |x|
  std::vector<double> channelMeans() const;
  std::vector<double> channelMeanSquares() const;

 private:
  void addChannels(std::span<const int64_t> dims, std::span<const float> values);
  std::vector<double> overCount(std::vector<double> sums) const;

  bool isConvolution_;
  Histogram magnitudes_, negative_, positive_;
  std::vector<float> largest_, part_;
  std::vector<double> sums_, squares_;
  int64_t perChannel_ = 0;
};

// How elements of a tensor lie in memory by channel: value[(o * channels + c) * inner + i].
struct ChannelLayout {
  int64_t outer = 1, channels = 1, inner = 1;
};
ChannelLayout channelLayout(std::span<const int64_t> dims, bool isConvolution);

}  // namespace camshaft
