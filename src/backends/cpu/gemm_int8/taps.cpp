#include "backends/cpu/gemm_int8/taps.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm_int8/product.h"
#include "support/thread_pool.h"

namespace camshaft::cpu::gemm_int8 {

#if defined(__x86_64__)

namespace {

// Whether the image is small; in doubles, since a damaged engine may say any size.
bool isSmall(const ConvParams& params, bool areTaps, const Picture& in, const Picture& out) {
  const double outSizes[] = {static_cast<double>(out.height), static_cast<double>(out.width)};
  double bytes = static_cast<double>(in.batch) * static_cast<double>(params.channels);
  for (int i = 0; i < 2; ++i) {
    const auto kernel = static_cast<double>(params.kernel[i]);
    const auto stride = static_cast<double>(params.strides[i]);
    const double reach = (kernel - 1) * static_cast<double>(params.dilations[i]) / stride;
    bytes *= (areTaps ? std::min(stride, kernel) : stride) * (outSizes[i] + reach);
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

// Whether rows need neither sums nor flips to be multiplied where they lie.
bool areRowsReady(const ProductParams& product) {
  return product.zerosInput < 0 && !product.isSigned &&
         product.layout == static_cast<int32_t>(Layout::Kind::kQuads);
}

int64_t multipleOf(int64_t unit, int64_t size) { return (size + unit - 1) / unit * unit; }

}  // namespace

bool areTapsSteps(const ConvParams& params, const ProductParams& product) {
  return params.groups == 1 && params.channels > 0 && params.channels % kQuads.depth == 0 &&
         areRowsReady(product);
}

int64_t tapBytes(const ConvParams& params, const ProductParams& product, const Picture& in,
                 const Picture& out) {
  const bool areTaps = areTapsSteps(params, product);
  if (!areTaps && (!canFillLines(params) || !areRowsReady(product))) return 0;
  if (!readsInPlace(kQuads, out.pixels(), areTaps ? params.channels : product.k / params.kernel[0]))
    return 0;
  if (!isSmall(params, areTaps, in, out)) return kMostTapBytes;
  return std::min(kMostTapBytes,
                  areTaps ? ByteTaps(params, in, out).bytes() : ByteLines(params, in, out).bytes());
}

ByteTaps::ByteTaps(const ConvParams& params, const Picture& in, const Picture& out)
    : shape_(shapeOf(params, in, out)), extent_(extentOf(params, in)), images_(shape_, extent_) {}

Rows16 ByteTaps::fill(const uint8_t* image, uint8_t zero, ThreadPool& pool,
                      std::byte* memory) const {
  return images_.fill({.halves = reinterpret_cast<const uint16_t*>(image),
                       .padding = static_cast<uint16_t>(zero * 0x0101)},
                      pool, reinterpret_cast<float*>(memory));
}

// Lines and places of the image are multiples of the strides, so that windows lie as far apart
// everywhere, and a line is whole pairs.
ByteLines::ByteLines(const ConvParams& params, const Picture& in, const Picture& out)
    : params_(params), in_(in), out_(out) {
  const int64_t *strides = params.strides, *kernel = params.kernel;
  height_ = multipleOf(strides[0],
                       (out.height - 1) * strides[0] + (kernel[0] - 1) * params.dilations[0] + 1);
  width_ = multipleOf(strides[1], (out.width - 1) * strides[1] + kernel[1]);
  if (width_ * params.channels % 2 != 0) width_ += strides[1];
  for (int64_t ky = 0; ky < kernel[0]; ++ky)
    taps_.push_back(ky * params.dilations[0] * width_ * params.channels / 2);
}

int64_t ByteLines::bytes() const {
  constexpr int64_t kBehind = 64;  // that filled lines reach beyond the image
  return in_.batch * height_ * width_ * params_.channels + kBehind;
}

Rows16 ByteLines::fill(const uint8_t* image, uint8_t zero, ThreadPool& pool,
                       std::byte* memory) const {
  auto* to = reinterpret_cast<uint8_t*>(memory);
  const int64_t bytes = width_ * params_.channels;
  pool.parallelFor(in_.batch * height_, std::max<int64_t>(1, 32 * 1024 / bytes),
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t line = begin; line < end; ++line)
                       fillLine(image, zero, line, to + line * bytes);
                   });
  return {.data = reinterpret_cast<const uint16_t*>(memory),
          .stride = params_.strides[1] * params_.channels / 2,
          .taps = taps_.data(),
          .tapCount = params_.kernel[0],
          .readsBeyond = true,
          .width = out_.width,
          .pitch = params_.strides[0] * width_ / params_.strides[1],
          .height = out_.height,
          .lines = height_ / params_.strides[0]};
}

void ByteLines::fillLine(const uint8_t* image, uint8_t zero, int64_t line, uint8_t* to) const {
  const int64_t y = line % height_ - params_.padsBegin[0], left = params_.padsBegin[1];
  // Places [first, end) lie inside the image.
  const int64_t first = std::clamp<int64_t>(left, 0, width_);
  const int64_t end = in_.hasRow(y) ? std::clamp<int64_t>(left + in_.width, first, width_) : first;
  const int64_t pixel = (line / height_ * in_.height + y) * in_.width + first - left;
  const int64_t channels = params_.channels;
  std::memset(to, zero, first * channels);
  if (first < end)
    std::memcpy(to + first * channels, image + pixel * channels, (end - first) * channels);
  std::memset(to + end * channels, zero, (width_ - end) * channels);
}

#else

bool areTapsSteps(const ConvParams&, const ProductParams&) { return false; }

int64_t tapBytes(const ConvParams&, const ProductParams&, const Picture&, const Picture&) {
  return 0;
}

#endif

}  // namespace camshaft::cpu::gemm_int8
