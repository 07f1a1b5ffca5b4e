// Convolution as one product of bf16 (gemm/bf16_gemm.h): rows are output pixels, k runs over kernel
// taps and channels. Taps go straight into the panels of the product, filled up to whole steps of
// it, where that adds little to k; other patches are gathered in front.
#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/conv/gather.h"
#include "backends/cpu/gemm/bf16_gemm.h"
#include "backends/cpu/gemm/bf16_tile.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

// A tap outside the image reads zeros from here.
constexpr int64_t kMostChannels = 4096;
alignas(64) constexpr float kZeros[kMostChannels] = {};

// Patches that are gathered before they are packed, two at least, by each worker on its stack.
constexpr int64_t kGatheredFloats = 8192, kLongestPatch = kGatheredFloats / 2;

// How many times k may grow: tiles multiply 32 of it sooner than a patch is gathered.
constexpr int64_t kMostGrowth = kBf16Depth >= 32 ? 2 : 1;

int64_t tapDepth(const ConvShape& shape) { return bf16Steps(shape.inChannels) * kBf16Depth; }

bool packsTaps(const ConvShape& shape) {
  return shape.inChannels <= kMostChannels && tapDepth(shape) <= kMostGrowth * shape.inChannels;
}

// The k of the product.
int64_t productDepth(const ConvShape& shape) {
  const bool fillsUp = !isPointwise(shape) && packsTaps(shape);
  return fillsUp ? shape.kernel[0] * shape.kernel[1] * tapDepth(shape) : patchFloats(shape);
}

// Bits of a panel's rows whose patches have a tap inside the image, by the tap's row or column.
class TapsInside {
 public:
  TapsInside(const int64_t* starts, int64_t count, int64_t dilation, int64_t size)
      : starts_(starts), count_(count), dilation_(dilation), size_(size) {}
  uint32_t at(int64_t tap) const {
    uint32_t bits = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const auto place = static_cast<uint64_t>(starts_[i] + tap * dilation_);
      bits |= static_cast<uint32_t>(place < static_cast<uint64_t>(size_)) << i;
    }
    return bits;
  }

 private:
  const int64_t* starts_;
  const int64_t count_, dilation_, size_;
};
static_assert(kBf16Rows <= 32);

class Patches {
 public:
  explicit Patches(const ConvCall& call)
      : call_(call),
        tapDepth_(tapDepth(call.shape)),
        isPointwise_(camshaft::cpu::isPointwise(call.shape)),
        packsTaps_(packsTaps(call.shape)) {}

  void pack(int64_t pixel, int64_t count, uint16_t* panel) const {
    if (isPointwise_)
      packBf16Panel(call_.input + pixel * call_.extent.inPixelStride, call_.extent.inPixelStride,
                    call_.shape.inChannels, count, panel);
    else if (packsTaps_)
      packTaps(pixel, count, panel);
    else
      packGathered(pixel, count, panel);
  }

 private:
  static constexpr int64_t kFewTaps = 16;  // of a kernel's row

  void packTaps(int64_t pixel, int64_t count, uint16_t* panel) const {
    const ConvShape& shape = call_.shape;
    const ConvExtent& extent = call_.extent;
    const int64_t outWidth = call_.outWidth(), outHeight = call_.outHeight();
    int64_t top[kBf16Rows], left[kBf16Rows], first[kBf16Rows];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = pixel + i;
      left[i] = at % outWidth * shape.stride[1] - shape.padBegin[1];
      top[i] = at / outWidth % outHeight * shape.stride[0] - shape.padBegin[0];
      const int64_t line = at / (outWidth * outHeight) * extent.height + top[i];
      first[i] = (line * extent.width + left[i]) * extent.inPixelStride;
    }
    const TapsInside rows(top, count, shape.dilation[0], extent.height);
    const TapsInside columns(left, count, shape.dilation[1], extent.width);
    uint32_t inColumn[kFewTaps];
    for (int64_t kx = 0; kx < std::min(kFewTaps, shape.kernel[1]); ++kx)
      inColumn[kx] = columns.at(kx);
    const float* from[kBf16Rows];
    for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
      const uint32_t inRow = rows.at(ky);
      for (int64_t kx = 0; kx < shape.kernel[1]; ++kx) {
        const uint32_t isInside = inRow & (kx < kFewTaps ? inColumn[kx] : columns.at(kx));
        const int64_t tap =
            (ky * shape.dilation[0] * extent.width + kx * shape.dilation[1]) * extent.inPixelStride;
        for (int64_t i = 0; i < count; ++i)
          from[i] = isInside >> i & 1 ? call_.input + first[i] + tap : kZeros;
        packBf16Rows(from, count, shape.inChannels, panel);
        panel += tapDepth_ * kBf16Rows;
      }
    }
  }

  void packGathered(int64_t pixel, int64_t count, uint16_t* panel) const {
    float patches[kGatheredFloats];
    const int64_t k = patchFloats(call_.shape);
    const int64_t together = kGatheredFloats / k / 2 * 2;
    const float* from[kBf16Rows];
    for (int64_t i = 0; i < count; i += together) {
      const int64_t rows = std::min({together, count - i, kBf16Rows});
      gatherPatches(call_.shape, call_.extent, call_.input, call_.shape.inChannels, pixel + i, rows,
                    patches);
      for (int64_t row = 0; row < rows; ++row) from[row] = patches + row * k;
      packBf16Rows(from, rows, k, panel + i * kBf16Depth);
    }
  }

  const ConvCall& call_;
  const int64_t tapDepth_;
  const bool isPointwise_, packsTaps_;
};

}  // namespace

bool bf16ConvSupports(const ConvShape& shape) {
  return shape.groups == 1 &&
         (isPointwise(shape) || packsTaps(shape) || patchFloats(shape) <= kLongestPatch);
}

int64_t packedBf16ConvFloats(const ConvShape& shape) {
  return bf16PackedBFloats(productDepth(shape), shape.outChannels);
}

void packBf16Conv(const ConvShape& shape, const float* weights, float* packed) {
  const int64_t k = productDepth(shape), channels = shape.inChannels;
  std::vector<float> rows = tapsFirst(shape, weights);
  if (k != patchFloats(shape)) {
    const int64_t depth = tapDepth(shape), taps = shape.outChannels * k / depth;
    std::vector<float> filledUp(static_cast<size_t>(taps * depth));
    for (int64_t tap = 0; tap < taps; ++tap)
      std::copy_n(rows.data() + tap * channels, channels, filledUp.data() + tap * depth);
    rows = std::move(filledUp);
  }
  packBf16B(k, shape.outChannels, rows.data(), k, true, reinterpret_cast<uint16_t*>(packed));
}

int64_t bf16ConvWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads) {
  const int64_t pixels =
      extent.batch * shape.outSize(0, extent.height) * shape.outSize(1, extent.width);
  return bf16GemmWorkspaceFloats(pixels, productDepth(shape), threads);
}

void bf16Conv(const ConvCall& call) {
  const Patches patches(call);
  bf16Gemm(
      call.outPixels(), call.shape.outChannels, productDepth(call.shape),
      [&](int64_t pixel, int64_t count, uint16_t* panel) { patches.pack(pixel, count, panel); },
      reinterpret_cast<const uint16_t*>(call.packed), call.output, call.extent.outPixelStride,
      call.epilogue, call.pool, call.workspace);
}

}  // namespace camshaft::cpu
