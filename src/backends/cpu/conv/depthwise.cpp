// Depthwise convolution: vectors run over channels, a few neighbouring output pixels share each
// load of the weights.
#include <algorithm>

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
#include "backends/cpu/simd/bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

// Output pixels [x, x + kPixels) of one line, and channels of the lines.
struct Segment {
  const InputLines& in;
  const OutputLine& out;
  int64_t firstChannel, channels;
  int64_t line;  // counted over all images
  int64_t y, x;
};

// One row of the kernel over the pixels of a segment whose patches begin in column `left`. With
// kInside all their columns are inside the image; kTaps is the kernel's width, or 0 for any.
template <bool kInside, int kTaps, class D, class V, int kPixels>
HWY_INLINE void addKernelRow(D d, const ConvCall& call, const float* line, int64_t inPixelStride,
                             int64_t left, const float* weights, V (&sum)[kPixels]) {
  const ConvShape& shape = call.shape;
  const int64_t taps = kTaps ? kTaps : shape.kernel[1];
  const uint64_t width = static_cast<uint64_t>(call.extent.width);
  const int64_t pixelStep = shape.stride[1] * inPixelStride;
  const float* in = line + left * inPixelStride;
#pragma GCC unroll 5
  for (int64_t kx = 0; kx < taps; ++kx) {
    const V weight = hn::LoadU(d, weights);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      // Unsigned, columns left of the image are beyond its width too.
      if (kInside || static_cast<uint64_t>(left + p * shape.stride[1]) < width) {
        sum[p] = hn::MulAdd(hn::LoadU(d, in + p * pixelStep), weight, sum[p]);
      }
    }
    weights += shape.outChannels;
    in += shape.dilation[1] * inPixelStride;
    left += shape.dilation[1];
  }
}

// What is added to a pixel of the result, from `channel` on.
template <class D>
HWY_INLINE hn::Vec<D> residualAt(D d, const Epilogue& epilogue, int64_t pixel, int64_t channel) {
  const int64_t place = pixel * epilogue.residualStride + channel;
  return epilogue.residual ? loadF32(d, epilogue.residual + place)
                           : loadF32(d, epilogue.bf16Residual + place);
}

// Channels [channel, channel + lanes) of a segment's.
template <int kPixels, bool kInside, int kTaps, class D>
HWY_INLINE void computeVector(D d, const ConvCall& call, const Segment& s, int64_t channel) {
  const ConvShape& shape = call.shape;
  const Epilogue& epilogue = call.epilogue;
  using V = hn::Vec<D>;
  V sum[kPixels];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p] = hn::Zero(d);
  const int64_t inTensor = s.firstChannel + channel;
  const int64_t top = s.y * shape.stride[0] - shape.padBegin[0];
  const int64_t left = s.x * shape.stride[1] - shape.padBegin[1];
  for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
    const int64_t y = top + ky * shape.dilation[0];
    if (y < 0 || y >= call.extent.height) continue;
    const float* line = s.in.at(ky * shape.dilation[0]) + channel;
    const float* weights = call.packed + ky * shape.kernel[1] * shape.outChannels + inTensor;
    addKernelRow<kInside, kTaps>(d, call, line, s.in.pixelStride, left, weights, sum);
  }

  const Clamp bounds = clampOf(epilogue);
  const V low = hn::Set(d, bounds.low), high = hn::Set(d, bounds.high);
  const V scale = hn::Set(d, epilogue.scale);
  const V bias = epilogue.bias ? hn::LoadU(d, epilogue.bias + inTensor) : hn::Zero(d);
  const bool hasResidual = epilogue.residual || epilogue.bf16Residual;
  const int64_t pixel = s.line * call.outWidth() + s.x;
  float* const out = s.out.memory + s.x * s.out.pixelStride + channel;
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    V y = hn::MulAdd(sum[p], scale, bias);
    if (hasResidual) y = hn::Add(y, residualAt(d, epilogue, pixel + p, inTensor));
    hn::StoreU(clamp(low, high, y), d, out + p * s.out.pixelStride);
  }
}

// As many whole vectors of D as fit; the rest is left for narrower ones.
template <int kPixels, bool kInside, int kTaps, class D>
HWY_INLINE int64_t computeChannels(D d, const ConvCall& call, const Segment& s, int64_t channel) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; channel + lanes <= s.channels; channel += lanes) {
    computeVector<kPixels, kInside, kTaps>(d, call, s, channel);
  }
  return channel;
}

template <int kPixels, bool kInside, int kTaps>
HWY_NOINLINE void computeSegment(const ConvCall& call, const Segment& s) {
  int64_t channel = computeChannels<kPixels, kInside, kTaps>(hn::ScalableTag<float>(), call, s, 0);
  channel = computeChannels<kPixels, kInside, kTaps>(hn::CappedTag<float, 8>(), call, s, channel);
  channel = computeChannels<kPixels, kInside, kTaps>(hn::CappedTag<float, 4>(), call, s, channel);
  computeChannels<kPixels, kInside, kTaps>(hn::CappedTag<float, 1>(), call, s, channel);
}

// Seven divides the widths that are usual in networks.
constexpr int kPixelsAtOnce = 7;

template <bool kInside>
void computePixels(const ConvCall& call, const Segment& s) {
  switch (call.shape.kernel[1]) {
    case 3:
      return computeSegment<kPixelsAtOnce, kInside, 3>(call, s);
    case 5:
      return computeSegment<kPixelsAtOnce, kInside, 5>(call, s);
    default:
      return computeSegment<kPixelsAtOnce, kInside, 0>(call, s);
  }
}

// Output line `line`, counted over all images.
void computeLine(const ConvCall& call, const InputLines& in, const OutputLine& out, int64_t line,
                 int64_t firstChannel, int64_t channels) {
  const ConvShape& shape = call.shape;
  const int64_t outWidth = call.outWidth(), width = call.extent.width;
  const int64_t span = shape.dilation[1] * (shape.kernel[1] - 1);
  Segment s{in, out, firstChannel, channels, line, line % call.outHeight(), 0};
  while (s.x < outWidth) {
    if (s.x + kPixelsAtOnce <= outWidth) {
      const int64_t left = s.x * shape.stride[1] - shape.padBegin[1];
      const int64_t right = left + (kPixelsAtOnce - 1) * shape.stride[1] + span;
      if (left >= 0 && right < width) {
        computePixels<true>(call, s);
      } else {
        computePixels<false>(call, s);
      }
      s.x += kPixelsAtOnce;
    } else {
      computeSegment<1, false, 0>(call, s);
      s.x += 1;
    }
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
  const Epilogue& epilogue = call.epilogue;
  for (int64_t x = 0; x < outWidth; ++x) {
    const int64_t pixel = line * outWidth + x;
    float* out = call.output + pixel * call.extent.outPixelStride;
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
      sum = sum * epilogue.scale + (epilogue.bias ? epilogue.bias[o] : 0.0f);
      if (epilogue.residual) sum += epilogue.residual[pixel * epilogue.residualStride + o];
      if (epilogue.activation == Activation::kRelu && sum < 0) sum = 0;
      if (epilogue.activation == Activation::kClip) {
        sum = sum < epilogue.low ? epilogue.low : sum > epilogue.high ? epilogue.high : sum;
      }
      out[o] = sum;
    }
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

// Channels that are computed at a time: all of them, unless images are too low for all threads, or
// have to be widened.
static int64_t channelsAtOnce(const ConvCall& call, int64_t lines) {
  constexpr int64_t kLeastChannels = 64;
  constexpr double kMultiplyAddsPerAddition = 4;
  const int64_t channels = call.shape.outChannels;
  if (channels != call.shape.inChannels) return channels;
  if (call.bf16Input) return std::min(channels, DepthwiseLines::kChannels);
  const double work = static_cast<double>(call.outWidth() * packedDepthwiseFloats(call.shape));
  const double worthy = work / (kMultiplyAddsPerAddition * kWorthSharing);
  const int64_t blocks =
      partsOfUnits(lines, call.pool.threads(),
                   std::min(static_cast<int64_t>(worthy), channels / kLeastChannels));
  constexpr int64_t kVector = 16;  // the longest there are
  return ceilDiv(ceilDiv(channels, blocks), kVector) * kVector;
}

void depthwiseConv(const ConvCall& call) {
  const int64_t outWidth = call.outWidth(), channels = call.shape.outChannels;
  const int64_t lines = call.extent.batch * call.outHeight();
  const int64_t atOnce = channelsAtOnce(call, lines), blocks = ceilDiv(channels, atOnce);
  const bool hasMultiplier = call.shape.outChannels != call.shape.inChannels;
  // What a line finds widened is lost with each piece of work.
  constexpr int64_t kLinesTogether = 8;
  const int64_t grain = call.bf16Input ? std::min(lines, kLinesTogether) : 1;
  const int64_t workerFloats = depthwiseWorkspaceFloats(call.shape, call.extent, 1);
  call.pool.parallelFor(lines * blocks, grain, [&](int64_t begin, int64_t end, int worker) {
    DepthwiseLines memory(call, call.workspace + worker * workerFloats);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t line = task % lines, first = task / lines * atOnce;
      const int64_t count = std::min(atOnce, channels - first);
      const OutputLine out = memory.output(line, first, count);
      if (hasMultiplier) {
        computeLineWithMultiplier(call, line);
      } else {
        HWY_DYNAMIC_DISPATCH(computeLine)
        (call, memory.input(line, first, count), out, line, first, count);
      }
      applyActivation(call.epilogue.activation, out.memory, outWidth, count, out.pixelStride);
      if (call.epilogue.post) {
        call.epilogue.post(call.epilogue.postContext, out.memory, line * outWidth, first, outWidth,
                           count, out.pixelStride);
      }
      memory.store(line, first, count);
    }
  });
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
