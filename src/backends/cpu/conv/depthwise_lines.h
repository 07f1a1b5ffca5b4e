// What the depthwise convolution reads for a part of a line of its result: lines of f32, in place
// or, of tensors in bf16, in a worker's memory. A line of the input is widened once and kept while
// rows of the kernel reach it.
#pragma once

#include <cstdint>

#include "backends/cpu/conv/algorithms.h"

namespace camshaft::cpu {

// Lines of an image from the one that the first row of the kernel lies on, which may be above it.
struct InputLines {
  const float* memory;  // at the first channel of column `column`
  int64_t column;
  int64_t lineStride, pixelStride;
  int64_t slot, slots;  // of the first line; as many lines as there is room for
  // Where such a line lies, in lines.
  int64_t placeOf(int64_t line) const {
    const int64_t place = slot + line;
    return place < slots ? place : place - slots;
  }
};

// Channels, and neighbouring output pixels of a line, that are computed at a time.
inline constexpr int64_t kFewestDepthwiseChannels = 32, kMostDepthwiseChannels = 128;
inline constexpr int64_t kDepthwisePixels = 7;  // divides the widths that are usual in networks

// What a worker computes line by line: channels [channel, channel + channels) of output pixels
// [x, end).
struct DepthwiseBlock {
  int64_t channel, channels;
  int64_t x, end;
};

class DepthwiseLines {
 public:
  static int64_t floats(const ConvShape& shape, const ConvExtent& extent);  // of memory, for bf16

  // As many channels of whole lines as keep those under a kernel in L1; where these are too few,
  // the fewest there may be, and lines in so many parts.
  static int64_t channelsAtOnce(const ConvShape& shape, const ConvExtent& extent);
  static int64_t partsOfLine(const ConvShape& shape, const ConvExtent& extent);

  DepthwiseLines(const ConvCall& call, float* memory) : call_(call), memory_(memory) {}

  // For output line `line`, counted over all images; lines of a block are asked for in order.
  InputLines input(int64_t line, const DepthwiseBlock& block);

 private:
  int64_t slots() const;
  void widen(int64_t line);  // of the input's, over all images

  const ConvCall& call_;
  float* const memory_;
  // Lines of the image in front of this one are widened, columns [column_, endColumn_) of them.
  int64_t image_ = -1, widened_ = 0;
  DepthwiseBlock block_ = {-1, 0, -1, 0};
  int64_t column_ = 0, endColumn_ = 0;
};

}  // namespace camshaft::cpu
