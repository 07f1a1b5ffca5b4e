#include "backends/cpu/gemm_int8/taps.h"

#include <algorithm>

#include "backends/cpu/gemm_int8/product.h"

namespace camshaft::cpu::gemm_int8 {

#if defined(__x86_64__)

namespace {

constexpr int64_t kMostBytes = TapImages::kMostWholeFloats * static_cast<int64_t>(sizeof(float));

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

// Every tap is whole steps of the type that tiles multiply.
bool areTapsSteps(const ConvParams& params, const ProductParams& product) {
  return params.groups == 1 && params.channels > 0 && params.channels % kQuads.depth == 0 &&
         product.zerosInput < 0 && !product.isSigned &&
         product.layout == static_cast<int32_t>(Layout::Kind::kQuads);
}

}  // namespace

int64_t tapBytes(const ConvParams& params, const ProductParams& product, const Picture& in,
                 const Picture& out) {
  if (!areTapsSteps(params, product) || !multiplierFor(kQuads, out.pixels()).usesTiles) return 0;
  return std::min(kMostBytes, ByteTaps(params, in, out).bytes());
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
