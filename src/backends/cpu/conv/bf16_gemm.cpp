// Convolution as one product of bf16 (gemm/bf16_gemm.h): rows are output pixels, k runs over kernel
// taps and channels. Patches go straight into the panels of the product where runs of channels are
// whole steps of it; others are gathered in front.
#include <algorithm>
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

bool packsTaps(const ConvShape& shape) {
  return shape.inChannels % kBf16Depth == 0 && shape.inChannels <= kMostChannels;
}

// A panel's rows that are gathered before they are packed, by each worker on its stack.
constexpr int64_t kGatheredFloats = 8192;

class Patches {
 public:
  explicit Patches(const ConvCall& call)
      : call_(call),
        k_(patchFloats(call.shape)),
        isPointwise_(camshaft::cpu::isPointwise(call.shape)),
        packsTaps_(packsTaps(call.shape)) {}

  void pack(int64_t pixel, int64_t count, uint16_t* panel) const {
    if (isPointwise_)
      packBf16Panel(call_.input + pixel * call_.extent.inPixelStride, call_.extent.inPixelStride,
                    k_, count, panel);
    else if (packsTaps_)
      packTaps(pixel, count, panel);
    else
      packGathered(pixel, count, panel);
  }

 private:
  void packTaps(int64_t pixel, int64_t count, uint16_t* panel) const {
    const ConvShape& shape = call_.shape;
    const ConvExtent& extent = call_.extent;
    const int64_t outWidth = call_.outWidth(), outHeight = call_.outHeight();
    int64_t top[kBf16Rows], left[kBf16Rows];
    const float* image[kBf16Rows];
    for (int64_t i = 0; i < kBf16Rows; ++i) {
      const int64_t at = pixel + std::min(i, count - 1);
      left[i] = at % outWidth * shape.stride[1] - shape.padBegin[1];
      top[i] = at / outWidth % outHeight * shape.stride[0] - shape.padBegin[0];
      image[i] = call_.input +
                 at / (outWidth * outHeight) * extent.height * extent.width * extent.inPixelStride;
    }
    const auto isInside = [](int64_t at, int64_t size) {
      return static_cast<uint64_t>(at) < static_cast<uint64_t>(size);
    };
    const float* from[kBf16Rows];
    for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < shape.kernel[1]; ++kx) {
        for (int64_t i = 0; i < kBf16Rows; ++i) {
          const int64_t y = top[i] + ky * shape.dilation[0], x = left[i] + kx * shape.dilation[1];
          from[i] = isInside(y, extent.height) && isInside(x, extent.width)
                        ? image[i] + (y * extent.width + x) * extent.inPixelStride
                        : kZeros;
        }
        packBf16Rows(from, shape.inChannels, panel);
        panel += shape.inChannels * kBf16Rows;
      }
    }
  }

  void packGathered(int64_t pixel, int64_t count, uint16_t* panel) const {
    float rows[kGatheredFloats];
    gatherPatches(call_.shape, call_.extent, call_.input, call_.shape.inChannels, pixel, count,
                  rows);
    packBf16Panel(rows, k_, k_, count, panel);
  }

  const ConvCall& call_;
  const int64_t k_;
  const bool isPointwise_, packsTaps_;
};

}  // namespace

bool bf16ConvSupports(const ConvShape& shape) {
  return shape.groups == 1 && (isPointwise(shape) || packsTaps(shape) ||
                               patchFloats(shape) * kBf16Rows <= kGatheredFloats);
}

int64_t packedBf16ConvFloats(const ConvShape& shape) {
  return bf16PackedBFloats(patchFloats(shape), shape.outChannels);
}

void packBf16Conv(const ConvShape& shape, const float* weights, float* packed) {
  const int64_t k = patchFloats(shape);
  const std::vector<float> rows = tapsFirst(shape, weights);
  packBf16B(k, shape.outChannels, rows.data(), k, true, reinterpret_cast<uint16_t*>(packed));
}

int64_t bf16ConvWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads) {
  const int64_t pixels =
      extent.batch * shape.outSize(0, extent.height) * shape.outSize(1, extent.width);
  return bf16GemmWorkspaceFloats(pixels, patchFloats(shape), threads);
}

void bf16Conv(const ConvCall& call) {
  const Patches patches(call);
  bf16Gemm(
      call.outPixels(), call.shape.outChannels, patchFloats(call.shape),
      [&](int64_t pixel, int64_t count, uint16_t* panel) { patches.pack(pixel, count, panel); },
      reinterpret_cast<const uint16_t*>(call.packed), call.output, call.extent.outPixelStride,
      call.epilogue, call.pool, call.workspace);
}

}  // namespace camshaft::cpu
