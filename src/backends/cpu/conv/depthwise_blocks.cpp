#include "backends/cpu/conv/depthwise_blocks.h"

#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/parallel.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

// From the first row or column of a kernel to its last.
int64_t reach(const ConvShape& shape, int axis) {
  return shape.dilation[axis] * (shape.kernel[axis] - 1) + 1;
}

// Elements of the lines under a kernel that stay in L1 beside weights and sums.
int64_t cachedElements(const ConvCall& call) {
  constexpr int64_t kCachedBytes = 32 * 1024;
  return kCachedBytes / static_cast<int64_t>(call.bf16Input ? sizeof(BFloat16) : sizeof(float));
}

// Channels that are computed at a time: as many as keep the lines under a kernel in L1, and fewer
// where images are too low for all threads.
int64_t channelsAtOnce(const ConvCall& call, int64_t lines) {
  constexpr int64_t kTasksPerThread = 2;
  constexpr int64_t kVector = 16;  // the longest there are
  const int64_t channels = call.shape.outChannels;
  const int64_t pixels = std::max<int64_t>(1, reach(call.shape, 0) * call.extent.width);
  int64_t atOnce = std::clamp(cachedElements(call) / pixels / kVector * kVector,
                              kFewestDepthwiseChannels, kMostDepthwiseChannels);
  while (atOnce > kFewestDepthwiseChannels &&
         lines * ceilDiv(channels, atOnce) < kTasksPerThread * call.pool.threads())
    atOnce -= kFewestDepthwiseChannels;
  // Even shares: a last one of few channels would be slow.
  const int64_t blocks = ceilDiv(channels, atOnce);
  return std::min(atOnce, ceilDiv(ceilDiv(channels, blocks), kVector) * kVector);
}

// In how many parts lines are cut whose fewest channels do not stay in L1, each of whole segments.
int64_t partsOfLine(const ConvCall& call) {
  const ConvShape& shape = call.shape;
  const int64_t columns = cachedElements(call) / (reach(shape, 0) * kFewestDepthwiseChannels);
  if (call.extent.width <= columns) return 1;
  const int64_t segments = (columns - reach(shape, 1)) / shape.stride[1] + 1;
  const int64_t pixels = std::max<int64_t>(1, segments / kDepthwisePixels) * kDepthwisePixels;
  const int64_t width = call.outWidth();
  return std::clamp<int64_t>(ceilDiv(width, pixels), 1,
                             std::max<int64_t>(1, width / kDepthwisePixels));
}

// In how many strips of lines an image is handed out, whose lines are `pieces` each. Where channels
// are few for the pixels, the product in front of this divides the pixels among the threads, and
// each finds in its caches the lines that it wrote; else it divides the channels, and so do blocks
// of them here.
int64_t stripsOfLines(const ConvCall& call, int64_t lines, int64_t pieces, int64_t atOnce) {
  constexpr int64_t kTasksPerThread = 4;
  constexpr double kMultiplyAddsPerAddition = 4;
  const int64_t inPixels = call.extent.batch * call.extent.height * call.extent.width;
  const int64_t most = splitsColumns(inPixels, call.shape.inChannels)
                           ? ceilDiv(kTasksPerThread * call.pool.threads(), pieces)
                           : kTasksPerThread * call.pool.threads();
  const int64_t taps = call.shape.kernel[0] * call.shape.kernel[1];
  const double work = static_cast<double>(call.outPixels() * atOnce * taps) /
                      static_cast<double>(kMultiplyAddsPerAddition * kWorthSharing);
  return std::clamp<int64_t>(static_cast<int64_t>(work), 1, std::min(most, lines));
}

}  // namespace

DepthwiseBlocks::DepthwiseBlocks(const ConvCall& call)
    : channels_(call.shape.outChannels),
      width_(call.outWidth()),
      lines_(call.extent.batch * call.outHeight()),
      atOnce_(channelsAtOnce(call, lines_)),
      blocks_(ceilDiv(channels_, atOnce_)),
      parts_(partsOfLine(call)),
      strips_(stripsOfLines(call, lines_, parts_ * blocks_, atOnce_)) {}

DepthwiseBlock DepthwiseBlocks::at(int64_t number) const {
  const int64_t strip = number / (blocks_ * parts_), part = number % parts_;
  const int64_t channel = number / parts_ % blocks_ * atOnce_;
  return {.channel = channel,
          .channels = std::min(atOnce_, channels_ - channel),
          .x = part * width_ / parts_,
          .end = (part + 1) * width_ / parts_,
          .line = strip * lines_ / strips_,
          .endLine = (strip + 1) * lines_ / strips_};
}

}  // namespace camshaft::cpu
