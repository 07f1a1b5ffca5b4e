#include "backends/cpu/conv/depthwise_lines.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/simd/bf16_rows.h"

namespace camshaft::cpu {
namespace {

// From the first row of a kernel to its last.
int64_t linesOfKernel(const ConvShape& shape) {
  return shape.dilation[0] * (shape.kernel[0] - 1) + 1;
}

}  // namespace

int64_t DepthwiseLines::floats(const ConvShape& shape, const ConvExtent& extent) {
  const int64_t pixels = linesOfKernel(shape) * extent.width + shape.outSize(1, extent.width);
  return std::min(kChannels, shape.inChannels) * pixels;
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
  if (count == extent.inPixelStride) return widenRow(from, extent.width * count, to);
  for (int64_t x = 0; x < extent.width; ++x)
    widenRow(from + x * extent.inPixelStride, count, to + x * count);
}

OutputLine DepthwiseLines::output(int64_t line, int64_t first, int64_t count) const {
  const int64_t stride = call_.extent.outPixelStride;
  if (!call_.bf16Output) return {call_.output + line * call_.outWidth() * stride + first, stride};
  return {memory_ + slots() * call_.extent.width * count, count};
}

void DepthwiseLines::store(int64_t line, int64_t first, int64_t count) const {
  if (!call_.bf16Output) return;
  const int64_t stride = call_.extent.outPixelStride, width = call_.outWidth();
  const float* from = output(line, first, count).memory;
  BFloat16* to = call_.bf16Output + line * width * stride + first;
  if (count == stride) return narrowRow(from, width * count, to);
  for (int64_t x = 0; x < width; ++x) narrowRow(from + x * count, count, to + x * stride);
}

}  // namespace camshaft::cpu
