#include "quantize/statistics.h"

#include <algorithm>
#include <cmath>

#include "ir/tensor.h"

namespace camshaft {

ChannelLayout channelLayout(std::span<const int64_t> dims, bool isConvolution) {
  if (dims.empty()) return {};
  const size_t axis = isConvolution && dims.size() > 1 ? 1 : dims.size() - 1;
  return {countOf(dims.first(axis)), dims[axis], countOf(dims.subspan(axis + 1))};
}

void TensorStatistics::add(std::span<const int64_t> dims, std::span<const float> values) {
  magnitudes_.add(values);
  const auto addPart = [&](Histogram& histogram, auto&& belongs) {
    part_.clear();
    for (const float value : values)
      if (belongs(value)) part_.push_back(value);
    histogram.add(part_);
  };
  addPart(negative_, [](float x) { return x < 0; });
  addPart(positive_, [](float x) { return x > 0; });
  addChannels(dims, values);
}

void TensorStatistics::addChannels(std::span<const int64_t> dims, std::span<const float> values) {
  const ChannelLayout layout = channelLayout(dims, isConvolution_);
  if (sums_.empty()) {
    largest_.assign(static_cast<size_t>(layout.channels), 0);
    sums_.assign(static_cast<size_t>(layout.channels), 0);
    squares_.assign(static_cast<size_t>(layout.channels), 0);
  }
  if (sums_.size() != static_cast<size_t>(layout.channels)) return;
  const float* value = values.data();
  for (int64_t outer = 0; outer < layout.outer; ++outer)
    for (size_t channel = 0; channel < sums_.size(); ++channel)
      for (int64_t inner = 0; inner < layout.inner; ++inner, ++value) {
        if (!std::isfinite(*value)) continue;
        largest_[channel] = std::max(largest_[channel], std::abs(*value));
        sums_[channel] += *value;
        squares_[channel] += static_cast<double>(*value) * *value;
      }
  perChannel_ += layout.outer * layout.inner;
}

std::vector<double> TensorStatistics::overCount(std::vector<double> sums) const {
  for (double& sum : sums) sum /= static_cast<double>(std::max<int64_t>(perChannel_, 1));
  return sums;
}

std::vector<double> TensorStatistics::channelMeans() const { return overCount(sums_); }
std::vector<double> TensorStatistics::channelMeanSquares() const { return overCount(squares_); }

}  // namespace camshaft
