#include "backends/cpu/conv/padded_lines.h"

#include <algorithm>

#include "backends/cpu/gemm/tile16.h"
#include "support/thread_pool.h"

#if defined(__x86_64__)

namespace camshaft::cpu {

namespace {

// Copies write whole steps, so that memory goes on for one behind whatever is written.
constexpr int64_t kSlack = kDepth16;
// Patches that are put together before they are packed, by each worker on its stack.
constexpr int64_t kTogether = 8192;

int64_t runHalves(const ConvShape& shape) { return shape.kernel[1] * shape.inChannels; }

}  // namespace

PaddedLines::PaddedLines(const ConvShape& shape, const ConvExtent& extent, float* memory)
    : shape_(shape),
      extent_(extent),
      outHeight_(shape.outSize(0, extent.height)),
      outWidth_(shape.outSize(1, extent.width)),
      lines_((outHeight_ - 1) * shape.stride[0] + (shape.kernel[0] - 1) * shape.dilation[0] + 1),
      pitch_(((outWidth_ - 1) * shape.stride[1] + shape.kernel[1]) * shape.inChannels + kSlack),
      halves_(reinterpret_cast<uint16_t*>(memory)) {}

bool PaddedLines::supports(const ConvShape& shape) {
  return shape.dilation[1] == 1 && patchFloats(shape) + 2 * kSlack <= kTogether / 2;
}

int64_t PaddedLines::floats() const {
  return (extent_.batch * lines_ * pitch_ + kSlack + 31) / 32 * 16;
}

void PaddedLines::fill(const ConvCall& call) {
  const auto* bf16 = reinterpret_cast<const uint16_t*>(call.bf16Input);
  const int64_t grain = std::max<int64_t>(1, 16 * 1024 / pitch_);
  call.pool.parallelFor(extent_.batch * lines_, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line)
      if (bf16)
        fillLine(bf16, line, halves_ + line * pitch_);
      else
        fillLine(call.input, line, halves_ + line * pitch_);
  });
}

template <class T>
void PaddedLines::fillLine(const T* input, int64_t line, uint16_t* to) const {
  const int64_t channels = shape_.inChannels, size = pitch_ - kSlack;
  const int64_t y = line % lines_ - shape_.padBegin[0], image = line / lines_;
  const int64_t left = shape_.padBegin[1] * channels;
  const bool isInside = y >= 0 && y < extent_.height;
  const int64_t inside =
      isInside ? std::clamp<int64_t>(size - left, 0, extent_.width * channels) : 0;
  std::fill(to, to + std::min(left, size), uint16_t{0});
  if (inside > 0) {
    const T* from = input + (image * extent_.height + y) * extent_.width * extent_.inPixelStride;
    if (extent_.inPixelStride == channels)
      copyBf16(from, inside, to + left);
    else
      for (int64_t x = 0; x < inside; x += channels, from += extent_.inPixelStride)
        copyBf16(from, std::min(channels, inside - x), to + left + x);
  }
  if (left + inside < size) std::fill(to + left + inside, to + size, uint16_t{0});
}

void PaddedLines::pack(int64_t pixel, int64_t count, uint16_t* panel) const {
  alignas(64) uint16_t patches[kTogether];
  const int64_t k = patchFloats(shape_), run = runHalves(shape_);
  const int64_t patch = steps16(k) * kDepth16 + kSlack;
  const int64_t together = std::min(kTogether / patch / 2 * 2, kRows16);
  const uint16_t* from[kRows16];
  for (int64_t first = 0; first < count; first += together) {
    const int64_t rows = std::min(together, count - first);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = pixel + first + i;
      const int64_t x = at % outWidth_, y = at / outWidth_ % outHeight_;
      const int64_t image = at / (outWidth_ * outHeight_);
      const uint16_t* line = halves_ + (image * lines_ + y * shape_.stride[0]) * pitch_ +
                             x * shape_.stride[1] * shape_.inChannels;
      uint16_t* to = patches + i * patch;
      // Each run overwrites what was copied beyond the one before.
      for (int64_t ky = 0; ky < shape_.kernel[0]; ++ky, to += run)
        copyBf16(line + ky * shape_.dilation[0] * pitch_, run, to);
      from[i] = patches + i * patch;
    }
    packBf16Rows(from, rows, k, panel + first * kDepth16);
  }
}

}  // namespace camshaft::cpu

#endif
