// What the depthwise convolution reads for a line of its result: lines of f32, in place or, of
// tensors in bf16, in a worker's memory, some channels at a time. A line of the input is widened
// once and kept while rows of the kernel reach it.
#pragma once

#include <cstdint>

#include "backends/cpu/conv/algorithms.h"

namespace camshaft::cpu {

// Lines of an image from the one that the first row of the kernel lies on, which may be above it.
struct InputLines {
  const float* memory;  // at the first channel
  int64_t lineStride, pixelStride;
  int64_t slot, slots;  // of the first line; as many lines as there is room for
  const float* at(int64_t line) const {
    const int64_t place = slot + line;
    return memory + (place < slots ? place : place - slots) * lineStride;
  }
};

// Channels that are computed at a time.
inline constexpr int64_t kFewestDepthwiseChannels = 32, kMostDepthwiseChannels = 128;

// Of one worker, for channels [first, first + count).
class DepthwiseLines {
 public:
  static int64_t floats(const ConvShape& shape, const ConvExtent& extent);  // of memory, for bf16

  // As many as keep the lines under a kernel in L1.
  static int64_t channelsAtOnce(const ConvShape& shape, const ConvExtent& extent);

  DepthwiseLines(const ConvCall& call, float* memory) : call_(call), memory_(memory) {}

  // For output line `line`, counted over all images; lines are asked for in order.
  InputLines input(int64_t line, int64_t first, int64_t count);

 private:
  int64_t slots() const;
  void widen(int64_t line, int64_t first, int64_t count);  // of the input's, over all images

  const ConvCall& call_;
  float* const memory_;
  // Lines of the image in front of this one are widened.
  int64_t image_ = -1, firstChannel_ = -1, widened_ = 0;
};

}  // namespace camshaft::cpu
