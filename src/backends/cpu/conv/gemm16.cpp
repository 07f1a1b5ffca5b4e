// Convolution as one product in 16 bits (gemm/gemm16.h): rows are output pixels, k runs over kernel
// taps and channels. Taps are filled up to whole steps of the product where that adds little to k.
// Then units that read rows in place read them from one image (tap_images.h), and others get them
// packed straight into panels; other patches are gathered in front, on x86-64 from padded lines.
#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/conv/gather.h"
#include "backends/cpu/conv/padded_lines.h"
#include "backends/cpu/conv/tap_images.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

// A tap outside the image reads zeros from here.
constexpr int64_t kMostChannels = 4096;
template <class T>
alignas(64) constexpr T kZeros[kMostChannels] = {};

// Patches that are gathered before they are packed, two at least, by each worker on its stack.
constexpr int64_t kGathered = 8192, kLongestPatch = kGathered / 2;

// How many times k may grow: tiles multiply 32 of it sooner than a patch is gathered.
constexpr int64_t kMostGrowth = kDepth16 >= 32 ? 2 : 1;

int64_t tapDepth(const ConvShape& shape) { return steps16(shape.inChannels) * kDepth16; }

bool packsTaps(const ConvShape& shape) {
  return shape.inChannels <= kMostChannels && tapDepth(shape) <= kMostGrowth * shape.inChannels;
}

// The k of the product.
int64_t productDepth(const ConvShape& shape) {
  const bool fillsUp = !isPointwise(shape) && packsTaps(shape);
  return fillsUp ? shape.kernel[0] * shape.kernel[1] * tapDepth(shape) : patchFloats(shape);
}

#if defined(__x86_64__)
bool readsTapsInPlace(const ConvShape& shape) { return !isPointwise(shape) && packsTaps(shape); }
bool packsLines(const ConvShape& shape) {
  return !isPointwise(shape) && !packsTaps(shape) && PaddedLines::supports(shape);
}
#endif

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
static_assert(kRows16 <= 32);

// T is float, or uint16_t for the bits of bf16.
template <class T>
class Patches {
 public:
  Patches(const ConvCall& call, const T* input)
      : call_(call),
        input_(input),
        tapDepth_(tapDepth(call.shape)),
        isPointwise_(camshaft::cpu::isPointwise(call.shape)),
        packsTaps_(packsTaps(call.shape)) {}

  void pack(int64_t pixel, int64_t count, const Panel16& panel) const {
    if (isPointwise_)
      packPanel16(input_ + pixel * call_.extent.inPixelStride, call_.extent.inPixelStride,
                  call_.shape.inChannels, count, panel);
    else if (packsTaps_)
      packTaps(pixel, count, panel);
    else
      packGathered(pixel, count, panel);
  }

 private:
  static constexpr int64_t kFewTaps = 16;  // of a kernel's row

  void packTaps(int64_t pixel, int64_t count, Panel16 panel) const {
    const ConvShape& shape = call_.shape;
    const ConvExtent& extent = call_.extent;
    const int64_t outWidth = call_.outWidth(), outHeight = call_.outHeight();
    int64_t top[kRows16], left[kRows16], first[kRows16];
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
    const T* from[kRows16];
    for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
      const uint32_t inRow = rows.at(ky);
      for (int64_t kx = 0; kx < shape.kernel[1]; ++kx) {
        const uint32_t isInside = inRow & (kx < kFewTaps ? inColumn[kx] : columns.at(kx));
        const int64_t tap =
            (ky * shape.dilation[0] * extent.width + kx * shape.dilation[1]) * extent.inPixelStride;
        for (int64_t i = 0; i < count; ++i)
          from[i] = isInside >> i & 1 ? input_ + first[i] + tap : kZeros<T>;
        packRows16(from, count, shape.inChannels, panel);
        panel.steps += tapDepth_ * kRows16;
      }
    }
  }

  void packGathered(int64_t pixel, int64_t count, const Panel16& panel) const {
    T patches[kGathered];
    const int64_t k = patchFloats(call_.shape);
    const int64_t together = kGathered / k / 2 * 2;
    const T* from[kRows16];
    for (int64_t i = 0; i < count; i += together) {
      const int64_t rows = std::min({together, count - i, kRows16});
      gatherPatches(call_.shape, call_.extent, input_, call_.shape.inChannels, pixel + i, rows,
                    patches);
      for (int64_t row = 0; row < rows; ++row) from[row] = patches + row * k;
      packRows16(from, rows, k, panel.from(i));
    }
  }

  const ConvCall& call_;
  const T* input_;
  const int64_t tapDepth_;
  const bool isPointwise_, packsTaps_;
};

}  // namespace

bool conv16Supports(const ConvShape& shape) {
  return shape.groups == 1 &&
         (isPointwise(shape) || packsTaps(shape) || patchFloats(shape) <= kLongestPatch);
}

int64_t packedConv16Floats(Type16 type, const ConvShape& shape) {
  return packedB16Floats(type, productDepth(shape), shape.outChannels);
}

void packConv16(Type16 type, const ConvShape& shape, const float* weights, float* packed) {
  const int64_t k = productDepth(shape), channels = shape.inChannels;
  std::vector<float> rows = tapsFirst(shape, weights);
  if (k != patchFloats(shape)) {
    const int64_t depth = tapDepth(shape), taps = shape.outChannels * k / depth;
    std::vector<float> filledUp(static_cast<size_t>(taps * depth));
    for (int64_t tap = 0; tap < taps; ++tap)
      std::copy_n(rows.data() + tap * channels, channels, filledUp.data() + tap * depth);
    rows = std::move(filledUp);
  }
  packB16(type, k, shape.outChannels, rows.data(), k, true, reinterpret_cast<uint16_t*>(packed));
}

int64_t conv16WorkspaceFloats(Type16 type, const ConvShape& shape, const ConvExtent& extent,
                              int threads) {
  const int64_t pixels =
      extent.batch * shape.outSize(0, extent.height) * shape.outSize(1, extent.width);
  if (pixels == 0) return 0;
  const int64_t floats = gemm16WorkspaceFloats(type, pixels, productDepth(shape), threads);
#if defined(__x86_64__)
  if (readsTapsInPlace(shape))
    return TapImages::wantsStrips(shape, extent)
               ? std::max(TapImages::kMostWholeFloats,
                          threads * TapImages::stripFloats(shape, extent))
               : TapImages(shape, extent).floats();
  if (packsLines(shape)) return floats + PaddedLines(shape, extent, nullptr).floats();
#endif
  return floats;
}

namespace {

void multiply(Type16 type, const ConvCall& call, int64_t rows, PackPanel16 pack, const Rows16& a,
              float* workspace) {
  gemm16(type, rows, call.shape.outChannels, productDepth(call.shape), pack,
         reinterpret_cast<const uint16_t*>(call.packed),
         {.f32 = call.output, .stride = call.extent.outPixelStride, .bf16 = call.bf16Output},
         call.epilogue, call.pool, workspace, a, call.upcoming);
}

template <class T>
void convolvePatches(Type16 type, const ConvCall& call, const T* input, const Rows16& rows) {
  const Patches<T> patches(call, input);
  multiply(
      type, call, call.outPixels(),
      [&](int64_t pixel, int64_t count, const Panel16& panel) {
        patches.pack(pixel, count, panel);
      },
      rows, call.workspace);
}

}  // namespace

#if defined(__x86_64__)
static void packNothing(int64_t, int64_t, const Panel16&) {}
static TapSource tapSourceOf(const ConvCall& call) {
  return {.f32 = call.input, .halves = reinterpret_cast<const uint16_t*>(call.bf16Input)};
}

// By strips of output lines, whose taps are still in a worker's L2 when it multiplies them.
static void convolveStrips(Type16 type, const ConvCall& call) {
  const int64_t height = call.outHeight(), threads = call.pool.threads();
  const int64_t lines = TapImages::stripLines(call.shape, call.extent, static_cast<int>(threads));
  const int64_t strips = (height + lines - 1) / lines;
  const int64_t stripFloats = TapImages::stripFloats(call.shape, call.extent);
  const int64_t count = call.extent.batch * strips;
  const int64_t weightBytes = packedConv16Floats(type, call.shape) * 4;
  const ThreadPool::Shares shares = call.pool.sharesOf(count, 1);
  const SharedWeights weights(shares, call.packed, count, weightBytes, weightBytes, call.upcoming);
  call.pool.parallelFor(count, 1, [&](int64_t begin, int64_t end, int worker) {
    const TileScope tiles(bf16UsesTiles());
    for (int64_t strip = begin; strip < end; ++strip) {
      const int64_t first = strip % strips * lines;
      const TapImages images(call.shape, call.extent, std::min(lines, height - first));
      const Rows16 rows = images.fillStrip(tapSourceOf(call), strip / strips, first,
                                           call.workspace + worker * stripFloats);
      multiplyBlock16(
          {.type = type,
           .rows = images.rows(),
           .columns = call.shape.outChannels,
           .k = productDepth(call.shape),
           .a = rows,
           .packedB = reinterpret_cast<const uint16_t*>(call.packed),
           .c = {.f32 = call.output, .stride = call.extent.outPixelStride, .bf16 = call.bf16Output},
           .ahead = weights.from(strip, worker)},
          packNothing, call.epilogue, nullptr);
    }
  });
}
#endif

void conv16(Type16 type, const ConvCall& call) {
  if (call.outPixels() == 0) return;
#if defined(__x86_64__)
  if (readsTapsInPlace(call.shape)) {
    if (TapImages::wantsStrips(call.shape, call.extent)) return convolveStrips(type, call);
    const TapImages images(call.shape, call.extent);
    const Rows16 rows = images.fill(tapSourceOf(call), call.pool, call.workspace);
    return multiply(type, call, images.rows(), packNothing, rows, nullptr);
  }
  if (packsLines(call.shape)) {
    PaddedLines lines(call.shape, call.extent, call.workspace);
    lines.fill(call);
    const auto pack = [&](int64_t pixel, int64_t count, const Panel16& panel) {
      lines.pack(pixel, count, panel.steps);
    };
    return multiply(type, call, call.outPixels(), pack, {}, call.workspace + lines.floats());
  }
#endif
  if (!call.bf16Input) return convolvePatches(type, call, call.input, {});
  const auto* halves = reinterpret_cast<const uint16_t*>(call.bf16Input);
  const Rows16 rows{.data = halves, .stride = call.extent.inPixelStride};
  convolvePatches(type, call, halves, isPointwise(call.shape) ? rows : Rows16{});
}

}  // namespace camshaft::cpu
