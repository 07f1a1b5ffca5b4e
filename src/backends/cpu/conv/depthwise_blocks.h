// How a depthwise convolution is divided among workers: strips of lines, blocks of channels, and
// parts of lines that are too wide for L1.
#pragma once

#include <cstdint>

#include "backends/cpu/conv/algorithms.h"

namespace camshaft::cpu {

// Channels, and neighbouring output pixels of a line, that are computed at a time.
inline constexpr int64_t kFewestDepthwiseChannels = 32, kMostDepthwiseChannels = 128;
inline constexpr int64_t kDepthwisePixels = 7;  // divides the widths that are usual in networks

// What a worker computes line by line: channels [channel, channel + channels) of output pixels
// [x, end) of lines [line, endLine), counted over all images.
struct DepthwiseBlock {
  int64_t channel, channels;
  int64_t x, end;
  int64_t line, endLine;
};

class DepthwiseBlocks {
 public:
  explicit DepthwiseBlocks(const ConvCall& call);

  int64_t count() const { return strips_ * blocks_ * parts_; }
  DepthwiseBlock at(int64_t number) const;

 private:
  int64_t channels_, width_, lines_;  // of all the result
  int64_t atOnce_;                    // channels of a block
  int64_t blocks_, parts_, strips_;
};

}  // namespace camshaft::cpu
