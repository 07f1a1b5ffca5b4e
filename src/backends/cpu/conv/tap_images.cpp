#include "backends/cpu/conv/tap_images.h"

#include <algorithm>

#include "backends/cpu/gemm/tile16.h"
#include "support/thread_pool.h"

#if defined(__x86_64__)

namespace camshaft::cpu {

namespace {

// Halves of a strip that stay in L2 beside weights.
constexpr int64_t kStripHalves = 192 * 1024;
constexpr int64_t kFewestLines = 4;

// Lines, or places of one, that patches reach beyond those of the output.
int64_t reach(const ConvShape& shape, int axis) {
  return (shape.kernel[axis] - 1) * shape.dilation[axis] / shape.stride[axis];
}

// Of one line of the output in all parts.
int64_t lineHalves(const ConvShape& shape, const ConvExtent& extent) {
  const auto partsOf = [&](int axis) { return std::min(shape.stride[axis], shape.kernel[axis]); };
  return partsOf(0) * partsOf(1) * (shape.outSize(1, extent.width) + reach(shape, 1)) *
         steps16(shape.inChannels) * kDepth16;
}

}  // namespace

bool TapImages::wantsStrips(const ConvShape& shape, const ConvExtent& extent) {
  constexpr int64_t kLongestReach = 8;
  return reach(shape, 0) <= kLongestReach && TapImages(shape, extent).floats() > kMostWholeFloats;
}

// As many strips for each thread.
int64_t TapImages::stripLines(const ConvShape& shape, const ConvExtent& extent, int threads) {
  const int64_t height = shape.outSize(0, extent.height);
  const int64_t fitting = std::max(kFewestLines, kStripHalves / lineHalves(shape, extent));
  const int64_t strips = (height + fitting - 1) / fitting;
  const int64_t even = (strips + threads - 1) / threads * threads;
  return std::clamp((height + even - 1) / even, std::min(kFewestLines, height), fitting);
}

int64_t TapImages::stripFloats(const ConvShape& shape, const ConvExtent& extent) {
  const int64_t least = (kFewestLines + reach(shape, 0)) * lineHalves(shape, extent);
  const int64_t beyond = kRows16 * steps16(shape.inChannels) * kDepth16;
  return (kStripHalves + least + beyond) / 32 * 16 + 16;
}

TapImages::TapImages(const ConvShape& shape, const ConvExtent& extent)
    : TapImages(shape, extent, extent.batch, shape.outSize(0, extent.height)) {}

TapImages::TapImages(const ConvShape& shape, const ConvExtent& extent, int64_t outLines)
    : TapImages(shape, extent, 1, outLines) {}

TapImages::TapImages(const ConvShape& shape, const ConvExtent& extent, int64_t batch,
                     int64_t outLines)
    : shape_(shape),
      extent_(extent),
      batch_(batch),
      depth_(steps16(shape.inChannels) * kDepth16),
      outHeight_(outLines),
      outWidth_(shape.outSize(1, extent.width)),
      lines_(outHeight_ + reach(shape, 0)),
      pitch_(outWidth_ + reach(shape, 1)) {
  const int64_t imageHalves = batch * lines_ * pitch_ * depth_;
  for (int64_t ky = 0; ky < shape.kernel[0]; ++ky)
    for (int64_t kx = 0; kx < shape.kernel[1]; ++kx) {
      const int64_t y = ky * shape.dilation[0], x = kx * shape.dilation[1];
      const int64_t part = y % shape.stride[0] * shape.stride[1] + x % shape.stride[1];
      auto at = std::ranges::find(parts_, part);
      if (at == parts_.end()) at = parts_.insert(at, part);
      const int64_t place = y / shape.stride[0] * pitch_ + x / shape.stride[1];
      taps_.push_back((at - parts_.begin()) * imageHalves + place * depth_);
    }
}

int64_t TapImages::floats() const {
  const auto images = static_cast<int64_t>(parts_.size()) * batch_;
  return (images * lines_ * pitch_ + kRows16) * depth_ / 2;
}

int64_t TapImages::rows() const { return ((batch_ - 1) * lines_ + outHeight_) * pitch_; }

Rows16 TapImages::rowsOf(const uint16_t* halves) const {
  return {.data = halves,
          .stride = depth_,
          .taps = taps_.data(),
          .tapCount = static_cast<int64_t>(taps_.size()),
          .readsBeyond = true,
          .width = outWidth_,
          .pitch = pitch_,
          .height = outHeight_,
          .lines = lines_};
}

Rows16 TapImages::fill(const TapSource& source, ThreadPool& pool, float* memory) const {
  auto* halves = reinterpret_cast<uint16_t*>(memory);
  const int64_t lineHalves = pitch_ * depth_;
  const auto count = static_cast<int64_t>(parts_.size()) * batch_ * lines_;
  const int64_t grain = std::max<int64_t>(1, 32 * 1024 / std::max<int64_t>(1, lineHalves));
  pool.parallelFor(count, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line)
      fillLine(source, parts_[static_cast<size_t>(line / (batch_ * lines_))],
               line / lines_ % batch_, line % lines_, halves + line * lineHalves);
  });
  return rowsOf(halves);
}

Rows16 TapImages::fillStrip(const TapSource& source, int64_t image, int64_t line,
                            float* memory) const {
  auto* halves = reinterpret_cast<uint16_t*>(memory);
  uint16_t* to = halves;
  for (const int64_t part : parts_)
    for (int64_t y = line; y < line + lines_; ++y, to += pitch_ * depth_)
      fillLine(source, part, image, y, to);
  Rows16 rows = rowsOf(halves);
  rows.firstRow = (image * shape_.outSize(0, extent_.height) + line) * outWidth_;
  return rows;
}

// Line `line` of a part of an image, counted from where the first patch begins.
void TapImages::fillLine(const TapSource& source, int64_t part, int64_t image, int64_t line,
                         uint16_t* to) const {
  const int64_t y = line * shape_.stride[0] + part / shape_.stride[1] - shape_.padBegin[0];
  const int64_t left = part % shape_.stride[1] - shape_.padBegin[1], stride = shape_.stride[1];
  // Places [first, end) lie inside the image.
  int64_t first = std::clamp<int64_t>(left >= 0 ? 0 : (-left + stride - 1) / stride, 0, pitch_);
  int64_t end = std::clamp<int64_t>((extent_.width - left + stride - 1) / stride, first, pitch_);
  if (y < 0 || y >= extent_.height) first = end = pitch_;
  std::fill(to, to + first * depth_, source.padding);
  std::fill(to + end * depth_, to + pitch_ * depth_, source.padding);
  const int64_t pixel = (image * extent_.height + y) * extent_.width + left + first * stride;
  if (source.halves)
    copyPlaces(source.halves, pixel, end - first, to + first * depth_);
  else
    copyPlaces(source.f32, pixel, end - first, to + first * depth_);
}

template <class T>
void TapImages::copyPlaces(const T* input, int64_t pixel, int64_t places, uint16_t* to) const {
  const T* from = input + pixel * extent_.inPixelStride;
  const int64_t step = extent_.inPixelStride * shape_.stride[1];
  if (step == depth_)  // side by side
    copyBf16(from, places * depth_, to);
  else
    copyBf16Rows(from, step, places, shape_.inChannels, to);
}

}  // namespace camshaft::cpu

#endif
