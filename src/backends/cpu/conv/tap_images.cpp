#include "backends/cpu/conv/tap_images.h"

#include <algorithm>

#include "backends/cpu/gemm/tile16.h"
#include "support/thread_pool.h"

#if defined(__x86_64__)

namespace camshaft::cpu {

TapImages::TapImages(const ConvShape& shape, const ConvExtent& extent)
    : shape_(shape),
      extent_(extent),
      depth_(steps16(shape.inChannels) * kDepth16),
      outHeight_(shape.outSize(0, extent.height)),
      outWidth_(shape.outSize(1, extent.width)),
      lines_(outHeight_ + (shape.kernel[0] - 1) * shape.dilation[0] / shape.stride[0]),
      pitch_(outWidth_ + (shape.kernel[1] - 1) * shape.dilation[1] / shape.stride[1]) {
  const int64_t imageHalves = extent.batch * lines_ * pitch_ * depth_;
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
  const auto images = static_cast<int64_t>(parts_.size()) * extent_.batch;
  return (images * lines_ * pitch_ + kRows16) * depth_ / 2;
}

int64_t TapImages::rows() const { return ((extent_.batch - 1) * lines_ + outHeight_) * pitch_; }

Rows16 TapImages::fill(const ConvCall& call, float* memory) const {
  auto* halves = reinterpret_cast<uint16_t*>(memory);
  const auto* bf16 = reinterpret_cast<const uint16_t*>(call.bf16Input);
  const int64_t lineHalves = pitch_ * depth_;
  const auto count = static_cast<int64_t>(parts_.size()) * extent_.batch * lines_;
  const int64_t grain = std::max<int64_t>(1, 32 * 1024 / std::max<int64_t>(1, lineHalves));
  call.pool.parallelFor(count, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line)
      if (bf16)
        fillLine(bf16, line, halves + line * lineHalves);
      else
        fillLine(call.input, line, halves + line * lineHalves);
  });
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

template <class T>
void TapImages::fillLine(const T* input, int64_t line, uint16_t* to) const {
  const int64_t part = parts_[static_cast<size_t>(line / (extent_.batch * lines_))];
  const int64_t image = line / lines_ % extent_.batch;
  const int64_t y = line % lines_ * shape_.stride[0] + part / shape_.stride[1] - shape_.padBegin[0];
  const int64_t left = part % shape_.stride[1] - shape_.padBegin[1], stride = shape_.stride[1];
  // Places [first, end) lie inside the image.
  int64_t first = std::clamp<int64_t>(left >= 0 ? 0 : (-left + stride - 1) / stride, 0, pitch_);
  int64_t end = std::clamp<int64_t>((extent_.width - left + stride - 1) / stride, first, pitch_);
  if (y < 0 || y >= extent_.height) first = end = pitch_;
  std::fill(to, to + first * depth_, uint16_t{0});
  std::fill(to + end * depth_, to + pitch_ * depth_, uint16_t{0});
  const int64_t pixelStride = extent_.inPixelStride * stride;
  const T* from = input +
                  ((image * extent_.height + y) * extent_.width + left) * extent_.inPixelStride +
                  first * pixelStride;
  if (pixelStride == depth_) {  // side by side
    copyBf16(from, (end - first) * depth_, to + first * depth_);
    return;
  }
  copyBf16Rows(from, pixelStride, end - first, shape_.inChannels, to + first * depth_);
}

}  // namespace camshaft::cpu

#endif
