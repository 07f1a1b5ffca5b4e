#include "backends/cpu/conv/depthwise_lines.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/simd/bf16_rows.h"

namespace camshaft::cpu {
namespace {

constexpr int64_t kCached = 8 * 1024;  // floats, in L1 beside weights and sums

// From the first row of a kernel to its last.
int64_t linesOfKernel(const ConvShape& shape) {
  return shape.dilation[0] * (shape.kernel[0] - 1) + 1;
}

}  // namespace

int64_t DepthwiseLines::channelsAtOnce(const ConvShape& shape, const ConvExtent& extent) {
  constexpr int64_t kVector = 16;  // the longest there are
  const int64_t pixels = std::max<int64_t>(1, linesOfKernel(shape) * extent.width);
  return std::clamp(kCached / pixels / kVector * kVector, kFewestDepthwiseChannels,
                    kMostDepthwiseChannels);
}

int64_t DepthwiseLines::floats(const ConvShape& shape, const ConvExtent& extent) {
  return std::max(kCached, linesOfKernel(shape) * extent.width * kFewestDepthwiseChannels);
}

int64_t DepthwiseLines::slots() const { return linesOfKernel(call_.shape); }

InputLines DepthwiseLines::input(int64_t line, int64_t first, int64_t count) {
  const ConvExtent& extent = call_.extent;
  const int64_t image = line / call_.outHeight(), y = line % call_.outHeight();
  const int64_t top = y * call_.shape.stride[0] - call_.shape.padBegin[0];
  if (!call_.bf16Input) {
    const int64_t lineStride = extent.width * extent.inPixelStride;
    return {.memory = call_.input + image * extent.height * lineStride + first,
            .lineStride = lineStride,
            .pixelStride = extent.inPixelStride,
            .slot = top,
            .slots = std::numeric_limits<int64_t>::max()};
  }
  if (image != image_ || first != firstChannel_) {
    image_ = image;
    firstChannel_ = first;
    widened_ = 0;
  }
  const int64_t end = std::min(top + slots(), extent.height);
  for (widened_ = std::max({widened_, top, int64_t{0}}); widened_ < end; ++widened_)
    widen(widened_, first, count);
  const int64_t slot = top % slots();
  return {.memory = memory_,
          .lineStride = extent.width * count,
          .pixelStride = count,
          .slot = slot < 0 ? slot + slots() : slot,
          .slots = slots()};
}

void DepthwiseLines::widen(int64_t line, int64_t first, int64_t count) {
  const ConvExtent& extent = call_.extent;
  const int64_t pixel = (image_ * extent.height + line) * extent.width;
  const BFloat16* from = call_.bf16Input + pixel * extent.inPixelStride + first;
  float* to = memory_ + line % slots() * extent.width * count;
  widenRows(from, extent.inPixelStride, extent.width, count, to);
}

}  // namespace camshaft::cpu
