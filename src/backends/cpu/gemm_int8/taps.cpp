#include "backends/cpu/gemm_int8/taps.h"

#include <algorithm>

#include "backends/cpu/gemm_int8/product.h"

namespace camshaft::cpu::gemm_int8 {

#if defined(__x86_64__)

namespace {

// Whether the image is small; in doubles, since a damaged engine may say any size.
bool isSmall(const ConvParams& params, const Picture& in, const Picture& out) {
  const double outSizes[] = {static_cast<double>(out.height), static_cast<double>(out.width)};
  double bytes = static_cast<double>(in.batch) * static_cast<double>(params.channels);
  for (int i = 0; i < 2; ++i) {
    const auto kernel = static_cast<double>(params.kernel[i]);
    const auto stride = static_cast<double>(params.strides[i]);
    const double reach = (kernel - 1) * static_cast<double>(params.dilations[i]) / stride;
    bytes *= std::min(stride, kernel) * (outSizes[i] + reach);
  }
  return bytes < static_cast<double>(kMostTapBytes);
}

ConvShape shapeOf(const ConvParams& params, const Picture& in, const Picture& out) {
  ConvShape shape{.inChannels = params.channels / 2};
  const int64_t inSizes[] = {in.height, in.width}, outSizes[] = {out.height, out.width};
  for (int i = 0; i < 2; ++i) {
    shape.kernel[i] = params.kernel[i];
    shape.stride[i] = params.strides[i];
    shape.dilation[i] = params.dilations[i];
    shape.padBegin[i] = params.padsBegin[i];
    const int64_t reached =
        (outSizes[i] - 1) * params.strides[i] + (params.kernel[i] - 1) * params.dilations[i] + 1;
    shape.padEnd[i] = reached - inSizes[i] - params.padsBegin[i];
  }
  return shape;
}

ConvExtent extentOf(const ConvParams& params, const Picture& in) {
  return {.batch = in.batch,
          .height = in.height,
          .width = in.width,
          .inPixelStride = params.channels / 2};
}

// Every tap is whole steps of the type that is multiplied.
bool areTapsSteps(const ConvParams& params, const ProductParams& product) {
  return params.groups == 1 && params.channels > 0 && params.channels % kQuads.depth == 0 &&
         product.zerosInput < 0 && !product.isSigned &&
         product.layout == static_cast<int32_t>(Layout::Kind::kQuads);
}

}  // namespace

int64_t tapBytes(const ConvParams& params, const ProductParams& product, const Picture& in,
                 const Picture& out) {
  if (!areTapsSteps(params, product) || !readsInPlace(kQuads, out.pixels(), params.channels))
    return 0;
  return isSmall(params, in, out) ? std::min(kMostTapBytes, ByteTaps(params, in, out).bytes())
                                  : kMostTapBytes;
}

ByteTaps::ByteTaps(const ConvParams& params, const Picture& in, const Picture& out)
    : shape_(shapeOf(params, in, out)), extent_(extentOf(params, in)), images_(shape_, extent_) {}

Rows16 ByteTaps::fill(const uint8_t* image, uint8_t zero, ThreadPool& pool,
                      std::byte* memory) const {
  return images_.fill({.halves = reinterpret_cast<const uint16_t*>(image),
                       .padding = static_cast<uint16_t>(zero * 0x0101)},
                      pool, reinterpret_cast<float*>(memory));
}

#else

int64_t tapBytes(const ConvParams&, const ProductParams&, const Picture&, const Picture&) {
  return 0;
}

#endif

}  // namespace camshaft::cpu::gemm_int8
