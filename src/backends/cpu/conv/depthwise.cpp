// Depthwise convolution: vectors run over channels. A few neighbouring output pixels at once share
// each load of the weights and, as far as their patches overlap, of the input. Their sums end in
// registers where the epilogue is short, and else wait for it in L1.
#include <algorithm>
#include <vector>

#include "backends/cpu/conv/depthwise_lines.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/parallel.h"
#include "support/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/depthwise.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/gemm/activation-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

inline constexpr int kPixels = kDepthwisePixels;

// Vectors of channels at once: with one alone, sums would wait for each other where there are
// registers for two.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM
inline constexpr int kVectorsAtOnce = 2;
#else
inline constexpr int kVectorsAtOnce = 1;
#endif

// Output pixels [x, x + kPixels) of a line, for channels [0, channels) of a block. Of pixels beyond
// the line the sums are anything.
struct Segment {
  const InputLines& in;
  int64_t row, endRow;  // of the kernel, those that are inside the image
  int64_t left;         // the column where the first pixel's patch begins
  int64_t channels;
  const float* weights;  // of row 0, at the block's first channel
  float* sums;           // [kPixels][channels]
  // Not null: what the sums end with in registers, its bias at the block's first channel and the
  // pixels of the result, which are all there.
  const Epilogue* ending;
  float* result;
  int64_t resultStride;
};

// What one row of a kernel reads, for one vector of channels or two.
struct KernelRow {
  const float* in;  // at column `left`
  int64_t pixelStride;
  int64_t left, width;  // columns, and how many the image has
  const float* weights;
  int64_t weightStride;
  int64_t taps, stride, dilation;
};

// One row of a kernel of kTaps columns, not dilated. With kInside all columns are inside the image.
template <int kTaps, int kStride, bool kInside, class D, class V, int kVectors>
HWY_INLINE void addKernelRow(D d, const KernelRow& row, V (&sum)[kPixels][kVectors]) {
  constexpr int kColumns = (kPixels - 1) * kStride + kTaps;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  V weight[kTaps][kVectors];
#pragma GCC unroll 8
  for (int kx = 0; kx < kTaps; ++kx)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      weight[kx][v] = hn::LoadU(d, row.weights + kx * row.weightStride + v * kLanes);
  const float* in = row.in;
#pragma GCC unroll 20
  for (int column = 0; column < kColumns; ++column, in += row.pixelStride) {
    // Unsigned, columns left of the image are beyond its width too.
    if (!kInside && static_cast<uint64_t>(row.left + column) >= static_cast<uint64_t>(row.width))
      continue;
    V x[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) x[v] = inRegister(hn::LoadU(d, in + v * kLanes));
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      const int kx = column - p * kStride;
      if (kx < 0 || kx >= kTaps) continue;
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[p][v] = hn::MulAdd(x[v], weight[kx][v], sum[p][v]);
    }
  }
}

// One row of any kernel.
template <bool kInside, class D, class V, int kVectors>
HWY_INLINE void addAnyKernelRow(D d, const KernelRow& row, V (&sum)[kPixels][kVectors]) {
  const float* in = row.in;
  const float* weights = row.weights;
  int64_t left = row.left;
  for (int64_t kx = 0; kx < row.taps; ++kx) {
    const V weight = hn::LoadU(d, weights);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p)
      if (kInside ||
          static_cast<uint64_t>(left + p * row.stride) < static_cast<uint64_t>(row.width))
        sum[p][0] =
            hn::MulAdd(hn::LoadU(d, in + p * row.stride * row.pixelStride), weight, sum[p][0]);
    weights += row.weightStride;
    in += row.dilation * row.pixelStride;
    left += row.dilation;
  }
}

template <class D, class V, int kVectors>
HWY_INLINE void storeSums(D d, const Segment& s, int64_t channel,
                          const V (&sum)[kPixels][kVectors]) {
  float* const to = s.sums + channel;
  const int64_t stride = s.channels;
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sum[p][v], d, to + p * stride + v * hn::MaxLanes(D()));
}

template <Activation kActivation, class D, class V, int kVectors>
HWY_INLINE void storeResult(D d, const Segment& s, int64_t channel,
                            const V (&sum)[kPixels][kVectors]) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const Epilogue& epilogue = *s.ending;
  const Ending<kActivation, false, D> ending(d, epilogue);
  const V scale = hn::Set(d, epilogue.scale);
  float* const to = s.result + channel;
  const int64_t stride = s.resultStride;
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const V bias =
        epilogue.bias ? hn::LoadU(d, epilogue.bias + channel + v * kLanes) : hn::Set(d, -0.0f);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p)
      hn::StoreU(ending(d, hn::MulAdd(sum[p][v], scale, bias)), d, to + p * stride + v * kLanes);
  }
}

// Whether sums of `pixels` pixels can end in registers. Pixels of a segment may be those of the one
// before again, so nothing may be read where the result is written.
inline bool endsInRegisters(const ConvCall& call, int64_t pixels) {
  const Epilogue& epilogue = call.epilogue;
  constexpr Activation kShort[] = {Activation::kNone, Activation::kRelu, Activation::kClip,
                                   Activation::kHardSwish};
  const bool isShort = std::ranges::count(kShort, epilogue.activation) > 0;
  return isShort && pixels >= kPixels && !call.bf16Output && !epilogue.residual &&
         !epilogue.bf16Residual && !epilogue.post;
}

// Channels [channel, channel + kVectors * lanes) of a segment's. kTaps and kStride are 0 for any.
// What the rows have in common is read before the first: addresses that wait for it, row by row,
// would hold up the sums.
template <int kTaps, int kStride, bool kInside, int kVectors, class D>
HWY_INLINE void sumVectors(D d, const ConvCall& call, const Segment& s, int64_t channel) {
  const ConvShape& shape = call.shape;
  using V = hn::Vec<D>;
  V sum[kPixels][kVectors];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[p][v] = hn::Zero(d);
  const InputLines lines = s.in;
  const int64_t lineStep = shape.dilation[0], rowFloats = shape.kernel[1] * shape.outChannels;
  const float* const first = lines.memory + (s.left - lines.column) * lines.pixelStride + channel;
  KernelRow row{.in = first,
                .pixelStride = lines.pixelStride,
                .left = s.left,
                .width = call.extent.width,
                .weights = s.weights + s.row * rowFloats + channel,
                .weightStride = shape.outChannels,
                .taps = shape.kernel[1],
                .stride = shape.stride[1],
                .dilation = shape.dilation[1]};
  int64_t line = s.row * lineStep;
  for (int64_t left = s.endRow - s.row; left > 0; --left) {
    row.in = first + lines.placeOf(line) * lines.lineStride;
    if constexpr (kTaps > 0)
      addKernelRow<kTaps, kStride, kInside>(d, row, sum);
    else
      addAnyKernelRow<kInside>(d, row, sum);
    line += lineStep;
    row.weights += rowFloats;
  }
  if (!s.ending) return storeSums(d, s, channel, sum);
  if (s.ending->activation == Activation::kHardSwish)
    storeResult<Activation::kHardSwish>(d, s, channel, sum);
  else
    storeResult<Activation::kClip>(d, s, channel, sum);
}

// As many whole vectors of D as fit; the rest is left for narrower ones.
template <int kTaps, int kStride, bool kInside, int kVectors, class D>
HWY_INLINE int64_t sumChannels(D d, const ConvCall& call, const Segment& s, int64_t channel) {
  constexpr int64_t kChannels = kVectors * static_cast<int64_t>(hn::MaxLanes(D()));
  for (; channel + kChannels <= s.channels; channel += kChannels)
    sumVectors<kTaps, kStride, kInside, kVectors>(d, call, s, channel);
  return channel;
}

template <int kTaps, int kStride, bool kInside>
HWY_NOINLINE void sumSegment(const ConvCall& call, const Segment& s) {
  constexpr int kVectors = kTaps > 0 ? kVectorsAtOnce : 1;
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 8> eight;
  const hn::CappedTag<float, 4> four;
  int64_t channel = sumChannels<kTaps, kStride, kInside, kVectors>(whole, call, s, 0);
  channel = sumChannels<kTaps, kStride, kInside, 1>(whole, call, s, channel);
  channel = sumChannels<kTaps, kStride, kInside, 1>(eight, call, s, channel);
  channel = sumChannels<kTaps, kStride, kInside, 1>(four, call, s, channel);
  sumChannels<kTaps, kStride, kInside, 1>(hn::CappedTag<float, 1>(), call, s, channel);
}

template <bool kInside>
void sumPixels(const ConvCall& call, const Segment& s) {
  const int64_t taps = call.shape.kernel[1], stride = call.shape.stride[1];
  const bool isDilated = call.shape.dilation[1] != 1;
  if (isDilated) return sumSegment<0, 0, kInside>(call, s);
  if (taps == 3 && stride == 1) return sumSegment<3, 1, kInside>(call, s);
  if (taps == 3 && stride == 2) return sumSegment<3, 2, kInside>(call, s);
  if (taps == 5 && stride == 1) return sumSegment<5, 1, kInside>(call, s);
  if (taps == 5 && stride == 2) return sumSegment<5, 2, kInside>(call, s);
  if (taps == 7 && stride == 1) return sumSegment<7, 1, kInside>(call, s);
  sumSegment<0, 0, kInside>(call, s);
}

// A block of output line `line`, counted over all images. Its last pixels are computed with some in
// front of them, which are finished by then.
void computeLine(const ConvCall& call, const InputLines& in, int64_t line,
                 const DepthwiseBlock& block) {
  const ConvShape& shape = call.shape;
  const int64_t outWidth = call.outWidth(), width = call.extent.width;
  const int64_t channels = block.channels;
  const int64_t span = (kPixels - 1) * shape.stride[1] + shape.dilation[1] * (shape.kernel[1] - 1);
  alignas(64) float sums[kPixels * kMostDepthwiseChannels];
  const int64_t top = line % call.outHeight() * shape.stride[0] - shape.padBegin[0];
  const int64_t step = shape.dilation[0];
  Segment s{.in = in,
            .row = std::min(shape.kernel[0], std::max<int64_t>(0, ceilDiv(-top, step))),
            .endRow = std::min(shape.kernel[0], ceilDiv(call.extent.height - top, step)),
            .channels = channels,
            .weights = call.packed + block.channel,
            .sums = sums,
            .resultStride = call.extent.outPixelStride};
  Epilogue ending = call.epilogue;
  if (ending.bias) ending.bias += block.channel;
  if (endsInRegisters(call, block.end - block.x)) s.ending = &ending;
  int64_t x = 0;
  for (int64_t done = block.x; done < block.end; done = x + kPixels) {
    x = std::max(block.x, std::min(done, block.end - kPixels));
    s.left = x * shape.stride[1] - shape.padBegin[1];
    s.result = call.output + (line * outWidth + x) * s.resultStride + block.channel;
    if (s.left >= 0 && s.left + span < width)
      sumPixels<true>(call, s);
    else
      sumPixels<false>(call, s);
    if (s.ending) continue;
    const int64_t pixels = std::min<int64_t>(kPixels, block.end - x) - (done - x);
    float* from = sums + (done - x) * channels;
    const int64_t row = line * outWidth + done, stride = call.extent.outPixelStride;
    if (call.bf16Output)
      finishBlock(from, channels, pixels, channels, row, block.channel, call.bf16Output, stride,
                  call.epilogue);
    else
      finishBlock(from, channels, pixels, channels, row, block.channel, call.output, stride,
                  call.epilogue);
  }
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(computeLine);

namespace {

// Several output channels per input channel are rare enough for plain code.
void computeLineWithMultiplier(const ConvCall& call, int64_t line) {
  const ConvShape& shape = call.shape;
  const int64_t outHeight = call.outHeight(), outWidth = call.outWidth();
  const int64_t image = line / outHeight, y = line % outHeight;
  const int64_t channels = shape.outChannels, multiplier = channels / shape.groups;
  std::vector<float> sums(static_cast<size_t>(channels));  // the result may hold the residual
  for (int64_t x = 0; x < outWidth; ++x) {
    const int64_t pixel = line * outWidth + x;
    for (int64_t o = 0; o < channels; ++o) {
      float sum = 0;
      for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
        const int64_t inY = y * shape.stride[0] - shape.padBegin[0] + ky * shape.dilation[0];
        if (inY < 0 || inY >= call.extent.height) continue;
        for (int64_t kx = 0; kx < shape.kernel[1]; ++kx) {
          const int64_t inX = x * shape.stride[1] - shape.padBegin[1] + kx * shape.dilation[1];
          if (inX < 0 || inX >= call.extent.width) continue;
          const int64_t inPixel = (image * call.extent.height + inY) * call.extent.width + inX;
          sum += call.input[inPixel * call.extent.inPixelStride + o / multiplier] *
                 call.packed[(ky * shape.kernel[1] + kx) * channels + o];
        }
      }
      sums[static_cast<size_t>(o)] = sum;
    }
    finishBlock(sums.data(), channels, 1, channels, pixel, 0, call.output,
                call.extent.outPixelStride, call.epilogue);
  }
}

}  // namespace

int64_t packedDepthwiseFloats(const ConvShape& shape) {
  return shape.outChannels * shape.kernel[0] * shape.kernel[1];
}

// [tap][channel]
void packDepthwise(const ConvShape& shape, const float* weights, float* packed) {
  const int64_t taps = shape.kernel[0] * shape.kernel[1];
  for (int64_t channel = 0; channel < shape.outChannels; ++channel) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      packed[tap * shape.outChannels + channel] = weights[channel * taps + tap];
    }
  }
}

int64_t depthwiseWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads) {
  return extent.isBf16 ? threads * DepthwiseLines::floats(shape, extent) : 0;
}

// Channels that are computed at a time: as many as keep the lines under a kernel in L1, and fewer
// where images are too low for all threads.
static int64_t channelsAtOnce(const ConvCall& call, int64_t lines) {
  constexpr int64_t kTasksPerThread = 2;
  const int64_t channels = call.shape.outChannels;
  if (channels != call.shape.inChannels) return channels;
  int64_t atOnce = DepthwiseLines::channelsAtOnce(call.shape, call.extent);
  while (atOnce > kFewestDepthwiseChannels &&
         lines * ceilDiv(channels, atOnce) < kTasksPerThread * call.pool.threads())
    atOnce -= kFewestDepthwiseChannels;
  // Even shares: a last one of few channels would be slow.
  const int64_t blocks = ceilDiv(channels, atOnce);
  constexpr int64_t kVector = 16;  // the longest there are
  return std::min(atOnce, ceilDiv(ceilDiv(channels, blocks), kVector) * kVector);
}

// In how many strips of lines an image is handed out. Where channels are few for the pixels, the
// product in front of this divides the pixels among the threads, and each finds in its caches the
// lines that it wrote; else it divides the channels, and so do blocks of them here.
static int64_t stripsOfLines(const ConvCall& call, int64_t lines, int64_t pieces, int64_t atOnce) {
  constexpr int64_t kTasksPerThread = 4;
  constexpr double kMultiplyAddsPerAddition = 4;
  const int64_t inPixels = call.extent.batch * call.extent.height * call.extent.width;
  const int64_t most = splitsColumns(inPixels, call.shape.inChannels)
                           ? ceilDiv(kTasksPerThread * call.pool.threads(), pieces)
                           : kTasksPerThread * call.pool.threads();
  const int64_t taps = call.shape.kernel[0] * call.shape.kernel[1];
  const double work = static_cast<double>(call.outPixels() * atOnce * taps) /
                      static_cast<double>(kMultiplyAddsPerAddition * kWorthSharing);
  int64_t strips = std::clamp<int64_t>(static_cast<int64_t>(work), 1, std::min(most, lines));
  if (call.bf16Input) {  // what a worker finds widened is lost with each strip
    constexpr int64_t kWidened = 6;
    const int64_t threads = call.pool.threads(), few = std::max<int64_t>(1, lines / kWidened);
    strips = std::min(strips, few >= threads ? few / threads * threads : few);
  }
  return strips;
}

void depthwiseConv(const ConvCall& call) {
  const int64_t channels = call.shape.outChannels, width = call.outWidth();
  const int64_t lines = call.extent.batch * call.outHeight();
  const bool isPlain = channels != call.shape.inChannels;
  const int64_t atOnce = channelsAtOnce(call, lines), blocks = ceilDiv(channels, atOnce);
  const int64_t parts = isPlain ? 1 : DepthwiseLines::partsOfLine(call.shape, call.extent);
  const int64_t workerFloats = depthwiseWorkspaceFloats(call.shape, call.extent, 1);
  const int64_t strips = stripsOfLines(call, lines, parts * blocks, atOnce);
  call.pool.parallelFor(strips * blocks * parts, 1, [&](int64_t begin, int64_t end, int worker) {
    DepthwiseLines memory(call, call.workspace + worker * workerFloats);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t strip = task / (blocks * parts), part = task % parts;
      const int64_t first = task / parts % blocks * atOnce;
      const DepthwiseBlock block{.channel = first,
                                 .channels = std::min(atOnce, channels - first),
                                 .x = part * width / parts,
                                 .end = (part + 1) * width / parts};
      for (int64_t line = strip * lines / strips; line < (strip + 1) * lines / strips; ++line) {
        if (isPlain)
          computeLineWithMultiplier(call, line);
        else
          HWY_DYNAMIC_DISPATCH(computeLine)(call, memory.input(line, block), line, block);
      }
    }
  });
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
