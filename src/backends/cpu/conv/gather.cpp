#include "backends/cpu/conv/gather.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/gather.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Short runs dominate, for which a call of memcpy costs more than the copy.
template <class T>
HWY_INLINE void copyRun(const T* from, int64_t count, T* to) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (count < lanes) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + lanes < count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + count - lanes), d, to + count - lanes);
}

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

// A patch wholly inside the image whose rows are contiguous: the common case.
template <class T>
HWY_INLINE void copyPatch(const T* from, int64_t fromStride, int64_t height, int64_t rowSize,
                          T* to) {
  for (int64_t ky = 0; ky < height; ++ky, from += fromStride, to += rowSize) {
    copyRun(from, rowSize, to);
  }
}

template <class T>
void copyClippedPatch(const ConvShape& shape, const ConvExtent& extent, const T* image,
                      int64_t channels, int64_t top, int64_t left, T* to) {
  const Taps rows = tapsInside(shape, 0, top, extent.height);
  const Taps columns = tapsInside(shape, 1, left, extent.width);
  for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
    for (int64_t kx = 0; kx < shape.kernel[1]; ++kx, to += channels) {
      if (ky < rows.begin || ky >= rows.end || kx < columns.begin || kx >= columns.end) {
        std::fill(to, to + channels, T(0));
      } else {
        const int64_t y = top + ky * shape.dilation[0], x = left + kx * shape.dilation[1];
        copyRun(image + (y * extent.width + x) * extent.inPixelStride, channels, to);
      }
    }
  }
}

template <class T>
HWY_INLINE void gather(const ConvShape& shape, const ConvExtent& extent, const T* input,
                       int64_t channels, int64_t pixel, int64_t count, T* to) {
  const int64_t outWidth = shape.outSize(1, extent.width);
  const int64_t outHeight = shape.outSize(0, extent.height);
  const int64_t lineSize = extent.width * extent.inPixelStride;
  const int64_t rowSize = shape.kernel[1] * channels, patchSize = shape.kernel[0] * rowSize;
  // Neighbouring taps that are neighbours in memory too are copied in one go.
  const bool rowIsContiguous =
      shape.kernel[1] == 1 || (shape.dilation[1] == 1 && extent.inPixelStride == channels);
  const int64_t lastTop = extent.height - 1 - shape.dilation[0] * (shape.kernel[0] - 1);
  const int64_t lastLeft = extent.width - 1 - shape.dilation[1] * (shape.kernel[1] - 1);

  int64_t x = pixel % outWidth, y = pixel / outWidth % outHeight;
  const T* image = input + pixel / (outWidth * outHeight) * extent.height * lineSize;
  for (int64_t i = 0; i < count; ++i, to += patchSize) {
    const int64_t top = y * shape.stride[0] - shape.padBegin[0];
    const int64_t left = x * shape.stride[1] - shape.padBegin[1];
    if (rowIsContiguous && top >= 0 && top <= lastTop && left >= 0 && left <= lastLeft) {
      copyPatch(image + top * lineSize + left * extent.inPixelStride, shape.dilation[0] * lineSize,
                shape.kernel[0], rowSize, to);
    } else {
      copyClippedPatch(shape, extent, image, channels, top, left, to);
    }
    if (++x == outWidth) {
      x = 0;
      if (++y == outHeight) y = 0, image += extent.height * lineSize;
    }
  }
}

void gatherFloats(const ConvShape& shape, const ConvExtent& extent, const float* input,
                  int64_t channels, int64_t pixel, int64_t count, float* to) {
  gather(shape, extent, input, channels, pixel, count, to);
}
void gatherHalves(const ConvShape& shape, const ConvExtent& extent, const uint16_t* input,
                  int64_t channels, int64_t pixel, int64_t count, uint16_t* to) {
  gather(shape, extent, input, channels, pixel, count, to);
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(gatherFloats);
HWY_EXPORT(gatherHalves);

void gatherPatches(const ConvShape& shape, const ConvExtent& extent, const float* input,
                   int64_t channels, int64_t pixel, int64_t count, float* rows) {
  HWY_DYNAMIC_DISPATCH(gatherFloats)(shape, extent, input, channels, pixel, count, rows);
}

void gatherPatches(const ConvShape& shape, const ConvExtent& extent, const uint16_t* input,
                   int64_t channels, int64_t pixel, int64_t count, uint16_t* rows) {
  HWY_DYNAMIC_DISPATCH(gatherHalves)(shape, extent, input, channels, pixel, count, rows);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
