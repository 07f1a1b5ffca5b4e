#include "backends/cpu/conv/winograd_transform.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/winograd_transform.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/gemm/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

// Points 0, 1, -1, 2, -2 and infinity:
//   4  0 -5  0  1  0
//   0 -4 -4  1  1  0
//   0  4 -4 -1  1  0
//   0 -2 -1  2  1  0
//   0  2 -1 -2  1  0
//   0  4  0 -5  0  1
template <class D, class V>
HWY_INLINE void inputMap(D d, V x0, V x1, V x2, V x3, V x4, V x5, V* y) {
  const V two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), five = hn::Set(d, 5.0f);
  const V even1 = hn::NegMulAdd(four, x2, x4), odd1 = hn::NegMulAdd(four, x1, x3);
  const V even2 = hn::Sub(x4, x2), odd2 = hn::Mul(two, hn::Sub(x3, x1));
  y[0] = hn::MulAdd(four, x0, hn::NegMulAdd(five, x2, x4));
  y[1] = hn::Add(even1, odd1);
  y[2] = hn::Sub(even1, odd1);
  y[3] = hn::Add(even2, odd2);
  y[4] = hn::Sub(even2, odd2);
  y[5] = hn::MulAdd(four, x1, hn::NegMulAdd(five, x3, x5));
}

//   1  1  1  1  1  0
//   0  1 -1  2 -2  0
//   0  1  1  4  4  0
//   0  1 -1  8 -8  1
template <class D, class V>
HWY_INLINE void outputMap(D d, V x0, V x1, V x2, V x3, V x4, V x5, V* y) {
  const V sum1 = hn::Add(x1, x2), difference1 = hn::Sub(x1, x2);
  const V sum2 = hn::Add(x3, x4), difference2 = hn::Sub(x3, x4);
  y[0] = hn::Add(hn::Add(x0, sum1), sum2);
  y[1] = hn::MulAdd(hn::Set(d, 2.0f), difference2, difference1);
  y[2] = hn::MulAdd(hn::Set(d, 4.0f), sum2, sum1);
  y[3] = hn::Add(hn::MulAdd(hn::Set(d, 8.0f), difference2, difference1), x5);
}

constexpr int kPatch = static_cast<int>(kWinogradPatch), kTile = static_cast<int>(kWinogradTile);

template <class D>
HWY_INLINE int64_t inputChannels(D d, const float* const* pixels, int64_t channel, int64_t channels,
                                 float* to, int64_t pointStride) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  using V = hn::Vec<D>;
  for (; channel + lanes <= channels; channel += lanes) {
    V half[kPatch][kPatch];  // [column][row], columns mapped
#pragma GCC unroll 8
    for (int j = 0; j < kPatch; ++j) {
      V x[kPatch];
#pragma GCC unroll 8
      for (int i = 0; i < kPatch; ++i) x[i] = hn::LoadU(d, pixels[i * kPatch + j] + channel);
      inputMap(d, x[0], x[1], x[2], x[3], x[4], x[5], half[j]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kPatch; ++i) {
      V y[kPatch];
      inputMap(d, half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i], y);
#pragma GCC unroll 8
      for (int j = 0; j < kPatch; ++j) {
        hn::StoreU(y[j], d, to + (i * kPatch + j) * pointStride + channel);
      }
    }
  }
  return channel;
}

void transformInput(const ConvCall& call, int64_t tile, int64_t count, const float* zeros,
                    float* transformed, int64_t pointStride) {
  const WinogradTiles tiles(call);
  const int64_t channels = call.shape.inChannels, stride = call.extent.inPixelStride;
  const int64_t height = call.extent.height, width = call.extent.width;
  for (int64_t t = tile; t < tile + count; ++t, transformed += channels) {
    const int64_t image = t / tiles.perImage, inImage = t % tiles.perImage;
    const int64_t top = inImage / tiles.perRow * kWinogradTile - call.shape.padBegin[0];
    const int64_t left = inImage % tiles.perRow * kWinogradTile - call.shape.padBegin[1];
    const float* pixels[kWinogradPoints];
    for (int64_t i = 0; i < kWinogradPatch; ++i) {
      for (int64_t j = 0; j < kWinogradPatch; ++j) {
        const int64_t y = top + i, x = left + j;
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        pixels[i * kWinogradPatch + j] =
            inside ? call.input + ((image * height + y) * width + x) * stride : zeros;
      }
    }
    int64_t channel =
        inputChannels(hn::ScalableTag<float>(), pixels, 0, channels, transformed, pointStride);
    channel = inputChannels(hn::CappedTag<float, 4>(), pixels, channel, channels, transformed,
                            pointStride);
    inputChannels(hn::CappedTag<float, 1>(), pixels, channel, channels, transformed, pointStride);
  }
}

// The part of a tile that lies inside the output.
struct OutputTile {
  int64_t pixel;  // of its corner, over the whole batch
  int64_t rows, columns;
};

template <class D>
HWY_INLINE int64_t outputChannels(D d, const ConvCall& call, const OutputTile& tile,
                                  int64_t channel, const float* products, int64_t pointStride) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), width = call.outWidth();
  const Epilogue& epilogue = call.epilogue;
  const Clamp bounds = clampOf(epilogue);
  using V = hn::Vec<D>;
  const V low = hn::Set(d, bounds.low), high = hn::Set(d, bounds.high);
  const V scale = hn::Set(d, epilogue.scale);
  for (; channel + lanes <= call.shape.outChannels; channel += lanes) {
    V half[kPatch][kTile];  // [column][row], columns mapped
#pragma GCC unroll 8
    for (int j = 0; j < kPatch; ++j) {
      V x[kPatch];
#pragma GCC unroll 8
      for (int i = 0; i < kPatch; ++i) {
        x[i] = hn::LoadU(d, products + (i * kPatch + j) * pointStride + channel);
      }
      outputMap(d, x[0], x[1], x[2], x[3], x[4], x[5], half[j]);
    }
    const V bias = epilogue.bias ? hn::LoadU(d, epilogue.bias + channel) : hn::Zero(d);
    for (int64_t i = 0; i < tile.rows; ++i) {
      V y[kTile];
      outputMap(d, half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i], y);
      for (int64_t j = 0; j < tile.columns; ++j) {
        const int64_t pixel = tile.pixel + i * width + j;
        V value = hn::MulAdd(y[j], scale, bias);
        if (epilogue.residual) {
          value = hn::Add(
              value, hn::LoadU(d, epilogue.residual + pixel * epilogue.residualStride + channel));
        }
        hn::StoreU(clamp(low, high, value), d,
                   call.output + pixel * call.extent.outPixelStride + channel);
      }
    }
  }
  return channel;
}

void transformOutput(const ConvCall& call, int64_t tile, int64_t count, const float* products,
                     int64_t pointStride) {
  const WinogradTiles tiles(call);
  const int64_t channels = call.shape.outChannels, stride = call.extent.outPixelStride;
  const int64_t height = call.outHeight(), width = call.outWidth();
  for (int64_t t = tile; t < tile + count; ++t, products += channels) {
    const int64_t image = t / tiles.perImage, inImage = t % tiles.perImage;
    const int64_t y = inImage / tiles.perRow * kWinogradTile;
    const int64_t x = inImage % tiles.perRow * kWinogradTile;
    const OutputTile out = {(image * height + y) * width + x, std::min(kWinogradTile, height - y),
                            std::min(kWinogradTile, width - x)};
    int64_t channel = outputChannels(hn::ScalableTag<float>(), call, out, 0, products, pointStride);
    channel = outputChannels(hn::CappedTag<float, 4>(), call, out, channel, products, pointStride);
    outputChannels(hn::CappedTag<float, 1>(), call, out, channel, products, pointStride);

    const Epilogue& epilogue = call.epilogue;
    for (int64_t i = 0; i < out.rows; ++i) {
      const int64_t pixel = out.pixel + i * width;
      float* row = call.output + pixel * stride;
      endBlock(epilogue, row, out.columns, channels, stride);
      if (epilogue.post) {
        epilogue.post(epilogue.postContext, row, pixel, 0, out.columns, channels, stride);
      }
    }
  }
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(transformInput);
HWY_EXPORT(transformOutput);

void winogradInput(const ConvCall& call, int64_t tile, int64_t count, const float* zeros,
                   float* transformed, int64_t pointStride) {
  HWY_DYNAMIC_DISPATCH(transformInput)(call, tile, count, zeros, transformed, pointStride);
}

void winogradOutput(const ConvCall& call, int64_t tile, int64_t count, const float* products,
                    int64_t pointStride) {
  HWY_DYNAMIC_DISPATCH(transformOutput)(call, tile, count, products, pointStride);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
