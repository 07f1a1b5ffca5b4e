#include "backends/cpu/conv/depthwise_lines.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/simd/bf16_rows.h"

namespace camshaft::cpu {
namespace {

constexpr int64_t kCached = 8 * 1024;  // floats, in L1 beside weights and sums

// From the first row or column of a kernel to its last.
int64_t reach(const ConvShape& shape, int axis) {
  return shape.dilation[axis] * (shape.kernel[axis] - 1) + 1;
}

// Columns of the fewest channels that stay in L1.
int64_t cachedColumns(const ConvShape& shape) {
  return kCached / (reach(shape, 0) * kFewestDepthwiseChannels);
}

// Output pixels above them, in whole segments.
int64_t cachedPixels(const ConvShape& shape) {
  const int64_t pixels = (cachedColumns(shape) - reach(shape, 1)) / shape.stride[1] + 1;
  return std::max<int64_t>(1, pixels / kDepthwisePixels) * kDepthwisePixels;
}

}  // namespace

int64_t DepthwiseLines::channelsAtOnce(const ConvShape& shape, const ConvExtent& extent) {
  constexpr int64_t kVector = 16;  // the longest there are
  const int64_t pixels = std::max<int64_t>(1, reach(shape, 0) * extent.width);
  return std::clamp(kCached / pixels / kVector * kVector, kFewestDepthwiseChannels,
                    kMostDepthwiseChannels);
}

int64_t DepthwiseLines::partsOfLine(const ConvShape& shape, const ConvExtent& extent) {
  if (extent.width <= cachedColumns(shape)) return 1;
  const int64_t width = shape.outSize(1, extent.width), pixels = cachedPixels(shape);
  const int64_t most = std::max<int64_t>(1, width / kDepthwisePixels);
  return std::clamp<int64_t>((width + pixels - 1) / pixels, 1, most);
}

int64_t DepthwiseLines::floats(const ConvShape& shape, const ConvExtent& extent) {
  // Parts differ by a pixel, and lines of less than two segments are not cut.
  const int64_t pixels = std::max(cachedPixels(shape), 2 * kDepthwisePixels) + 1;
  const int64_t columns = (pixels - 1) * shape.stride[1] + reach(shape, 1);
  return std::max(kCached,
                  reach(shape, 0) * std::min(columns, extent.width) * kFewestDepthwiseChannels);
}

int64_t DepthwiseLines::slots() const { return reach(call_.shape, 0); }

InputLines DepthwiseLines::input(int64_t line, const DepthwiseBlock& block) {
  const ConvShape& shape = call_.shape;
  const ConvExtent& extent = call_.extent;
  const int64_t image = line / call_.outHeight(), y = line % call_.outHeight();
  const int64_t top = y * shape.stride[0] - shape.padBegin[0];
  if (!call_.bf16Input) {
    const int64_t lineStride = extent.width * extent.inPixelStride;
    return {.memory = call_.input + image * extent.height * lineStride + block.channel,
            .column = 0,
            .lineStride = lineStride,
            .pixelStride = extent.inPixelStride,
            .slot = top,
            .slots = std::numeric_limits<int64_t>::max()};
  }
  if (image != image_ || block.channel != block_.channel || block.x != block_.x) {
    image_ = image;
    block_ = block;
    widened_ = 0;
    const int64_t left = block.x * shape.stride[1] - shape.padBegin[1];
    const int64_t right = left + (block.end - 1 - block.x) * shape.stride[1] + reach(shape, 1);
    column_ = std::clamp<int64_t>(left, 0, extent.width);
    endColumn_ = std::clamp<int64_t>(right, column_, extent.width);
  }
  const int64_t end = std::min(top + slots(), extent.height);
  for (widened_ = std::max({widened_, top, int64_t{0}}); widened_ < end; ++widened_)
    widen(widened_);
  const int64_t slot = top % slots();
  return {.memory = memory_,
          .column = column_,
          .lineStride = (endColumn_ - column_) * block.channels,
          .pixelStride = block.channels,
          .slot = slot < 0 ? slot + slots() : slot,
          .slots = slots()};
}

void DepthwiseLines::widen(int64_t line) {
  const ConvExtent& extent = call_.extent;
  const int64_t pixel = (image_ * extent.height + line) * extent.width + column_;
  const int64_t columns = endColumn_ - column_;
  const BFloat16* from = call_.bf16Input + pixel * extent.inPixelStride + block_.channel;
  float* to = memory_ + line % slots() * columns * block_.channels;
  widenRows(from, extent.inPixelStride, columns, block_.channels, to);
}

}  // namespace camshaft::cpu
