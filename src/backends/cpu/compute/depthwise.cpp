// Depthwise convolution: vectors run over channels, a few neighbouring output pixels share each
// load of the weights.
#include <algorithm>

#include "backends/cpu/compute/conv_algorithms.h"
#include "backends/cpu/compute/gemm_block.h"
#include "support/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/compute/depthwise.cpp"
#include "backends/cpu/compute/simd_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/compute/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

// Output pixels [x, x + kPixels) of one row, which all see the kernel columns [kxBegin, kxEnd).
struct Segment {
  const float* input;  // the image
  int64_t y, x;
  int64_t kxBegin, kxEnd;
  float* output;          // of the first pixel
  const float* residual;  // of the first pixel, or null
};

// Channels [channel, channel + lanes) of a segment.
template <int kPixels, class D>
HWY_INLINE void computeVector(D d, const ConvCall& call, const Segment& s, int64_t channel) {
  const ConvShape& shape = call.shape;
  const int64_t stride = call.extent.inPixelStride, channels = shape.outChannels;
  using V = hn::Vec<D>;
  V sum[kPixels];
  const V bias = call.epilogue.bias ? hn::LoadU(d, call.epilogue.bias + channel) : hn::Zero(d);
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p] = hn::Zero(d);

  const int64_t left = s.x * shape.stride[1] - shape.padBegin[1];
  const int64_t pixelStep = shape.stride[1] * stride, tapStep = shape.dilation[1] * stride;
  for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
    const int64_t inY = s.y * shape.stride[0] - shape.padBegin[0] + ky * shape.dilation[0];
    if (inY < 0 || inY >= call.extent.height) continue;
    const float* in = s.input + (inY * call.extent.width + left) * stride + s.kxBegin * tapStep +
                      channel;
    const float* weight = call.packed + (ky * shape.kernel[1] + s.kxBegin) * channels + channel;
    for (int64_t kx = s.kxBegin; kx < s.kxEnd; ++kx, in += tapStep, weight += channels) {
      const V w = hn::LoadU(d, weight);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        sum[p] = hn::MulAdd(hn::LoadU(d, in + p * pixelStep), w, sum[p]);
      }
    }
  }

  const Clamp bounds = clampOf(call.epilogue);
  const V low = hn::Set(d, bounds.low), high = hn::Set(d, bounds.high);
  const V scale = hn::Set(d, call.epilogue.scale);
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    V y = hn::MulAdd(sum[p], scale, bias);
    if (s.residual) {
      y = hn::Add(y, hn::LoadU(d, s.residual + p * call.epilogue.residualStride + channel));
    }
    hn::StoreU(clamp(low, high, y), d, s.output + p * call.extent.outPixelStride + channel);
  }
}

// As many whole vectors of D as fit; the rest is left for narrower ones.
template <int kPixels, class D>
HWY_INLINE int64_t computeChannels(D d, const ConvCall& call, const Segment& s, int64_t channel) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; channel + lanes <= call.shape.outChannels; channel += lanes) {
    computeVector<kPixels>(d, call, s, channel);
  }
  return channel;
}

template <int kPixels>
void computeSegment(const ConvCall& call, const Segment& s) {
  int64_t channel = computeChannels<kPixels>(hn::ScalableTag<float>(), call, s, 0);
  channel = computeChannels<kPixels>(hn::CappedTag<float, 8>(), call, s, channel);
  channel = computeChannels<kPixels>(hn::CappedTag<float, 4>(), call, s, channel);
  computeChannels<kPixels>(hn::CappedTag<float, 1>(), call, s, channel);
}

// Row `line` of the batch's output rows, counted over all images.
void computeLine(const ConvCall& call, int64_t line) {
  constexpr int64_t kPixels = 6;
  const ConvShape& shape = call.shape;
  const int64_t outHeight = call.outHeight(), outWidth = call.outWidth();
  const int64_t image = line / outHeight, firstPixel = line * outWidth;
  const int64_t width = call.extent.width, taps = shape.kernel[1], dilation = shape.dilation[1];
  Segment s;
  s.input = call.input + image * call.extent.height * width * call.extent.inPixelStride;
  s.y = line % outHeight;

  // Pixels [inside, outside) see every column of the kernel.
  const int64_t last = width - 1 - dilation * (taps - 1) + shape.padBegin[1];
  const int64_t inside =
      std::min(outWidth, (shape.padBegin[1] + shape.stride[1] - 1) / shape.stride[1]);
  const int64_t outside = last < 0 ? inside
                                   : std::max(inside, std::min(outWidth, last / shape.stride[1] + 1));
  for (int64_t x = 0; x < outWidth;) {
    const int64_t left = x * shape.stride[1] - shape.padBegin[1];
    s.x = x;
    s.output = call.output + (firstPixel + x) * call.extent.outPixelStride;
    s.residual = call.epilogue.residual
                     ? call.epilogue.residual + (firstPixel + x) * call.epilogue.residualStride
                     : nullptr;
    s.kxBegin = left >= 0 ? 0 : std::min(taps, (-left + dilation - 1) / dilation);
    s.kxEnd = left >= width ? 0 : std::min(taps, (width - 1 - left) / dilation + 1);
    if (x >= inside && x + kPixels <= outside) {
      computeSegment<kPixels>(call, s);
      x += kPixels;
    } else {
      computeSegment<1>(call, s);
      x += 1;
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

void depthwiseConv(const ConvCall& call) {
  const int64_t outWidth = call.outWidth(), channels = call.shape.outChannels;
  const int64_t stride = call.extent.outPixelStride;
  const bool hasMultiplier = call.shape.outChannels != call.shape.inChannels;
  const auto computeLines = [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      if (hasMultiplier) {
        computeLineWithMultiplier(call, line);
      } else {
        HWY_DYNAMIC_DISPATCH(computeLine)(call, line);
      }
      const int64_t pixel = line * outWidth;
      float* out = call.output + pixel * stride;
      applyActivation(call.epilogue.activation, out, outWidth, channels, stride);
      if (call.epilogue.post) {
        call.epilogue.post(call.epilogue.postContext, out, pixel, 0, outWidth, channels, stride);
      }
    }
  };
  call.pool.parallelFor(call.extent.batch * call.outHeight(), 1, computeLines);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
