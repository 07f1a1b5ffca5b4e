#include "backends/cpu/compute/conv_gather.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/compute/conv_gather.cpp"
#include "backends/cpu/compute/simd_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Short runs dominate, for which a call of memcpy costs more than the copy.
HWY_INLINE void copyFloats(const float* from, int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (count < lanes) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + lanes < count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + count - lanes), d, to + count - lanes);
}

HWY_INLINE void zeroFloats(int64_t count, float* to) { std::fill(to, to + count, 0.0f); }

// First tap of `axis` inside [0, size) and the one after the last, for a patch starting at `start`.
struct Taps {
  int64_t begin, end;
};
HWY_INLINE Taps tapsInside(const ConvShape& shape, int axis, int64_t start, int64_t size) {
  const int64_t step = shape.dilation[axis], taps = shape.kernel[axis];
  const int64_t begin = start >= 0 ? 0 : std::min(taps, (-start + step - 1) / step);
  const int64_t end = start >= size ? 0 : std::min(taps, (size - 1 - start) / step + 1);
  return {begin, std::max(begin, end)};
}

void gather(const ConvShape& shape, const ConvExtent& extent, const float* input, int64_t channels,
            int64_t pixel, int64_t count, float* to) {
  const int64_t outWidth = shape.outSize(1, extent.width);
  const int64_t outHeight = shape.outSize(0, extent.height);
  const int64_t pixelStride = extent.inPixelStride, kernelWidth = shape.kernel[1];
  const int64_t tapRow = kernelWidth * channels;
  // Neighbouring taps that are neighbours in memory too are copied in one go.
  const bool rowIsContiguous = shape.dilation[1] == 1 && pixelStride == channels;

  int64_t x = pixel % outWidth, y = pixel / outWidth % outHeight;
  int64_t image = pixel / (outWidth * outHeight);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = y * shape.stride[0] - shape.padBegin[0];
    const int64_t left = x * shape.stride[1] - shape.padBegin[1];
    const Taps columns = tapsInside(shape, 1, left, extent.width);
    for (int64_t ky = 0; ky < shape.kernel[0]; ++ky, to += tapRow) {
      const int64_t inY = top + ky * shape.dilation[0];
      if (inY < 0 || inY >= extent.height) {
        zeroFloats(tapRow, to);
        continue;
      }
      const float* line = input + (image * extent.height + inY) * extent.width * pixelStride;
      if (columns.begin > 0) zeroFloats(columns.begin * channels, to);
      if (rowIsContiguous && columns.begin < columns.end) {
        copyFloats(line + (left + columns.begin) * channels,
                   (columns.end - columns.begin) * channels, to + columns.begin * channels);
      } else {
        for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
          copyFloats(line + (left + kx * shape.dilation[1]) * pixelStride, channels,
                     to + kx * channels);
        }
      }
      if (columns.end < kernelWidth) {
        zeroFloats((kernelWidth - columns.end) * channels, to + columns.end * channels);
      }
    }
    if (++x == outWidth) {
      x = 0;
      if (++y == outHeight) y = 0, ++image;
    }
  }
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(gather);

void gatherPatches(const ConvShape& shape, const ConvExtent& extent, const float* input,
                   int64_t channels, int64_t pixel, int64_t count, float* rows) {
  HWY_DYNAMIC_DISPATCH(gather)(shape, extent, input, channels, pixel, count, rows);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
