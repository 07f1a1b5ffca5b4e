// Depthwise convolution: vectors run over channels. A few neighbouring output pixels at once share
// each load of the weights and, as far as their patches overlap, of the input. Their sums end in
// registers where the epilogue is short, and else wait for it in L1.
#include <algorithm>
#include <type_traits>

#include "backends/cpu/conv/depthwise_blocks.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "support/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/depthwise.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/gemm/activation-inl.h"
#include "backends/cpu/simd/bf16-inl.h"

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
// the line the sums are anything. T is float or BFloat16.
template <class T>
struct Segment {
  const T* image;       // at the block's first channel
  int64_t top, left;    // where the first pixel's patch begins
  int64_t row, endRow;  // of the kernel, those that are inside the image
  int64_t channels;
  const float* weights;  // of row 0, at the block's first channel
  float* sums;           // [kPixels][channels]
  // Not null: what the sums end with in registers, its bias at the block's first channel and the
  // pixels of the result, which are all there.
  const Epilogue* ending;
  float* result;
  BFloat16* bf16Result;  // one of the two
  int64_t resultStride;
};

// What one row of a kernel reads, for one vector of channels or two.
template <class T>
struct KernelRow {
  const T* in;  // at column `left`
  int64_t pixelStride;
  int64_t left, width;  // columns, and how many the image has
  const float* weights;
  int64_t weightStride;
  int64_t taps, stride, dilation;
};

template <class D, class T, class V>
HWY_INLINE void loadInput(D d, const T* from, V (&x)[1]) {
  x[0] = inRegister(loadF32(d, from));
}
template <class D, class T, class V>
HWY_INLINE void loadInput(D d, const T* from, V (&x)[2]) {
  loadTwoF32(d, from, x[0], x[1]);
  x[0] = inRegister(x[0]), x[1] = inRegister(x[1]);
}

// One row of a kernel of kTaps columns, not dilated. With kInside all columns are inside the image.
template <int kTaps, int kStride, bool kInside, class D, class T, class V, int kVectors>
HWY_INLINE void addKernelRow(D d, const KernelRow<T>& row, V (&sum)[kPixels][kVectors]) {
  constexpr int kColumns = (kPixels - 1) * kStride + kTaps;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  V weight[kTaps][kVectors];
#pragma GCC unroll 8
  for (int kx = 0; kx < kTaps; ++kx)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      weight[kx][v] = hn::LoadU(d, row.weights + kx * row.weightStride + v * kLanes);
  const T* in = row.in;
#pragma GCC unroll 20
  for (int column = 0; column < kColumns; ++column, in += row.pixelStride) {
    // Unsigned, columns left of the image are beyond its width too.
    if (!kInside && static_cast<uint64_t>(row.left + column) >= static_cast<uint64_t>(row.width))
      continue;
    V x[kVectors];
    loadInput(d, in, x);
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
template <bool kInside, class D, class T, class V, int kVectors>
HWY_INLINE void addAnyKernelRow(D d, const KernelRow<T>& row, V (&sum)[kPixels][kVectors]) {
  const T* in = row.in;
  const float* weights = row.weights;
  int64_t left = row.left;
  for (int64_t kx = 0; kx < row.taps; ++kx) {
    const V weight = hn::LoadU(d, weights);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p)
      if (kInside ||
          static_cast<uint64_t>(left + p * row.stride) < static_cast<uint64_t>(row.width))
        sum[p][0] =
            hn::MulAdd(loadF32(d, in + p * row.stride * row.pixelStride), weight, sum[p][0]);
    weights += row.weightStride;
    in += row.dilation * row.pixelStride;
    left += row.dilation;
  }
}

template <class D, class T, class V, int kVectors>
HWY_INLINE void storeSums(D d, const Segment<T>& s, int64_t channel,
                          const V (&sum)[kPixels][kVectors]) {
  float* const to = s.sums + channel;
  const int64_t stride = s.channels;
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sum[p][v], d, to + p * stride + v * hn::MaxLanes(D()));
}

template <Activation kActivation, class D, class T, class To, class V, int kVectors>
HWY_INLINE void storeResult(D d, const Segment<T>& s, To* result, int64_t channel,
                            const V (&sum)[kPixels][kVectors]) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const Epilogue& epilogue = *s.ending;
  const Ending<kActivation, std::is_same_v<To, BFloat16>, D> ending(d, epilogue);
  const V scale = hn::Set(d, epilogue.scale);
  To* const to = result + channel;
  const int64_t stride = s.resultStride;
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const V bias =
        epilogue.bias ? hn::LoadU(d, epilogue.bias + channel + v * kLanes) : hn::Set(d, -0.0f);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p)
      storeByUnit(ending(d, hn::MulAdd(sum[p][v], scale, bias)), d, to + p * stride + v * kLanes);
  }
}

template <Activation kActivation, class D, class T, class V, int kVectors>
HWY_INLINE void storeResult(D d, const Segment<T>& s, int64_t channel,
                            const V (&sum)[kPixels][kVectors]) {
  if (s.bf16Result)
    storeResult<kActivation>(d, s, s.bf16Result, channel, sum);
  else
    storeResult<kActivation>(d, s, s.result, channel, sum);
}

// Whether sums of `pixels` pixels can end in registers. Pixels of a segment may be those of the one
// before again, so nothing may be read where the result is written.
inline bool endsInRegisters(const ConvCall& call, int64_t pixels) {
  const Epilogue& epilogue = call.epilogue;
  constexpr Activation kShort[] = {Activation::kNone, Activation::kRelu, Activation::kClip,
                                   Activation::kHardSwish};
  const bool isShort = std::ranges::count(kShort, epilogue.activation) > 0;
  const bool canRound = !call.bf16Output || mayNarrowByUnit();
  return isShort && canRound && pixels >= kPixels && !epilogue.residual && !epilogue.bf16Residual &&
         !epilogue.post;
}

// Channels [channel, channel + kVectors * lanes) of a segment's. kTaps and kStride are 0 for any.
// What the rows have in common is read before the first: addresses that wait for it, row by row,
// would hold up the sums.
template <int kTaps, int kStride, bool kInside, int kVectors, class D, class T>
HWY_INLINE void sumVectors(D d, const ConvCall& call, const Segment<T>& s, int64_t channel) {
  const ConvShape& shape = call.shape;
  using V = hn::Vec<D>;
  V sum[kPixels][kVectors];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[p][v] = hn::Zero(d);
  const int64_t pixelStride = call.extent.inPixelStride;
  const int64_t lineStride = shape.dilation[0] * call.extent.width * pixelStride;
  const int64_t rowFloats = shape.kernel[1] * shape.outChannels;
  const int64_t line = s.top + s.row * shape.dilation[0];
  KernelRow<T> row{.in = s.image + (line * call.extent.width + s.left) * pixelStride + channel,
                   .pixelStride = pixelStride,
                   .left = s.left,
                   .width = call.extent.width,
                   .weights = s.weights + s.row * rowFloats + channel,
                   .weightStride = shape.outChannels,
                   .taps = shape.kernel[1],
                   .stride = shape.stride[1],
                   .dilation = shape.dilation[1]};
  for (int64_t left = s.endRow - s.row; left > 0; --left) {
    if constexpr (kTaps > 0)
      addKernelRow<kTaps, kStride, kInside>(d, row, sum);
    else
      addAnyKernelRow<kInside>(d, row, sum);
    row.in += lineStride;
    row.weights += rowFloats;
  }
  if (!s.ending) return storeSums(d, s, channel, sum);
  if (s.ending->activation == Activation::kHardSwish)
    storeResult<Activation::kHardSwish>(d, s, channel, sum);
  else
    storeResult<Activation::kClip>(d, s, channel, sum);
}

// As many whole vectors of D as fit; the rest is left for narrower ones.
template <int kTaps, int kStride, bool kInside, int kVectors, class D, class T>
HWY_INLINE int64_t sumChannels(D d, const ConvCall& call, const Segment<T>& s, int64_t channel) {
  constexpr int64_t kChannels = kVectors * static_cast<int64_t>(hn::MaxLanes(D()));
  for (; channel + kChannels <= s.channels; channel += kChannels)
    sumVectors<kTaps, kStride, kInside, kVectors>(d, call, s, channel);
  return channel;
}

template <int kTaps, int kStride, bool kInside, class T>
HWY_NOINLINE void sumSegment(const ConvCall& call, const Segment<T>& s) {
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

template <bool kInside, class T>
void sumPixels(const ConvCall& call, const Segment<T>& s) {
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
template <class T>
void computeLine(const ConvCall& call, const T* input, int64_t line, const DepthwiseBlock& block) {
  const ConvShape& shape = call.shape;
  const ConvExtent& extent = call.extent;
  const int64_t outWidth = call.outWidth(), channels = block.channels;
  const int64_t span = (kPixels - 1) * shape.stride[1] + shape.dilation[1] * (shape.kernel[1] - 1);
  alignas(64) float sums[kPixels * kMostDepthwiseChannels];
  const int64_t image = line / call.outHeight();
  const int64_t top = line % call.outHeight() * shape.stride[0] - shape.padBegin[0];
  const int64_t step = shape.dilation[0];
  Segment<T> s{
      .image = input + image * extent.height * extent.width * extent.inPixelStride + block.channel,
      .top = top,
      .row = std::min(shape.kernel[0], std::max<int64_t>(0, ceilDiv(-top, step))),
      .endRow = std::min(shape.kernel[0], ceilDiv(extent.height - top, step)),
      .channels = channels,
      .weights = call.packed + block.channel,
      .sums = sums,
      .resultStride = extent.outPixelStride};
  Epilogue ending = call.epilogue;
  if (ending.bias) ending.bias += block.channel;
  if (endsInRegisters(call, block.end - block.x)) s.ending = &ending;
  int64_t x = 0;
  for (int64_t done = block.x; done < block.end; done = x + kPixels) {
    x = std::max(block.x, std::min(done, block.end - kPixels));
    s.left = x * shape.stride[1] - shape.padBegin[1];
    const int64_t place = (line * outWidth + x) * s.resultStride + block.channel;
    if (call.bf16Output)
      s.bf16Result = call.bf16Output + place;
    else
      s.result = call.output + place;
    if (s.left >= 0 && s.left + span < extent.width)
      sumPixels<true>(call, s);
    else
      sumPixels<false>(call, s);
    if (s.ending) continue;
    const int64_t pixels = std::min<int64_t>(kPixels, block.end - x) - (done - x);
    float* from = sums + (done - x) * channels;
    const int64_t row = line * outWidth + done, stride = extent.outPixelStride;
    if (call.bf16Output)
      finishBlock(from, channels, pixels, channels, row, block.channel, call.bf16Output, stride,
                  call.epilogue);
    else
      finishBlock(from, channels, pixels, channels, row, block.channel, call.output, stride,
                  call.epilogue);
  }
}

void computeLineOfBlock(const ConvCall& call, int64_t line, const DepthwiseBlock& block) {
  if (call.bf16Input)
    computeLine(call, call.bf16Input, line, block);
  else
    computeLine(call, call.input, line, block);
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(computeLineOfBlock);

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

void depthwiseConv(const ConvCall& call) {
  const DepthwiseBlocks blocks(call);
  call.pool.parallelFor(blocks.count(), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t task = begin; task < end; ++task) {
      const DepthwiseBlock block = blocks.at(task);
      for (int64_t line = block.line; line < block.endLine; ++line) {
        HWY_DYNAMIC_DISPATCH(computeLineOfBlock)(call, line, block);
      }
    }
  });
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
