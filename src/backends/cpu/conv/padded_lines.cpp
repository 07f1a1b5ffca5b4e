#include "backends/cpu/conv/padded_lines.h"

#include <algorithm>

#include "backends/cpu/gemm/tile16.h"
#include "support/thread_pool.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace camshaft::cpu {

namespace {

// Copies write whole steps, so that memory goes on for one behind whatever is written.
constexpr int64_t kSlack = kDepth16;
// Values of a patch, so that its pieces stay in L1.
constexpr int64_t kLongestPatch = 4096;

}  // namespace

PaddedLines::PaddedLines(const ConvShape& shape, const ConvExtent& extent, float* memory)
    : shape_(shape),
      extent_(extent),
      outHeight_(shape.outSize(0, extent.height)),
      outWidth_(shape.outSize(1, extent.width)),
      lines_((outHeight_ - 1) * shape.stride[0] + (shape.kernel[0] - 1) * shape.dilation[0] + 1),
      pitch_(((outWidth_ - 1) * shape.stride[1] + shape.kernel[1]) * shape.inChannels + kSlack),
      halves_(reinterpret_cast<uint16_t*>(memory)) {
  const int64_t run = shape.kernel[1] * shape.inChannels;
  int64_t at = 0;  // in the patch
  for (int64_t ky = 0; ky < shape.kernel[0]; ++ky)
    for (int64_t done = 0; done < run;) {
      const int64_t place = at % kDepth16, count = std::min(run - done, kDepth16 - place);
      const uint32_t bits = count == 32 ? ~uint32_t{0} : (uint32_t{1} << count) - 1;
      if (place == 0) steps_.emplace_back();
      steps_.back().push_back(
          {.from = ky * shape.dilation[0] * pitch_ + done - place, .bits = bits << place});
      done += count;
      at += count;
    }
}

bool PaddedLines::supports(const ConvShape& shape) {
  return shape.dilation[1] == 1 && patchFloats(shape) <= kLongestPatch;
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

#define CAMSHAFT_AVX512 __attribute__((target("avx512f,avx512bw")))

namespace {

// A step of a panel's rows, of so many pieces or, 0, of any number. Halves of none are zeros.
template <int kPieces, class Piece>
CAMSHAFT_AVX512 void packStep(const uint16_t* const* patches, int64_t count,
                              const std::vector<Piece>& pieces, uint16_t* panel) {
  const int64_t number = kPieces > 0 ? kPieces : static_cast<int64_t>(pieces.size());
  for (int64_t i = 0; i < count; ++i, panel += kDepth16) {
    __m512i row = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (int64_t p = 0; p < number; ++p)
      row = _mm512_mask_loadu_epi16(row, pieces[p].bits, patches[i] + pieces[p].from);
    _mm512_storeu_si512(panel, row);
  }
}

}  // namespace

CAMSHAFT_AVX512 void PaddedLines::pack(int64_t pixel, int64_t count, uint16_t* panel) const {
  static_assert(kDepth16 == 32);
  int64_t x = pixel % outWidth_, y = pixel / outWidth_ % outHeight_;
  int64_t image = pixel / (outWidth_ * outHeight_);
  const uint16_t* patches[kRows16];
  for (int64_t i = 0; i < count; ++i) {
    patches[i] = halves_ + (image * lines_ + y * shape_.stride[0]) * pitch_ +
                 x * shape_.stride[1] * shape_.inChannels;
    if (++x < outWidth_) continue;
    x = 0;
    if (++y < outHeight_) continue;
    y = 0;
    ++image;
  }
  for (const std::vector<Piece>& pieces : steps_) {
    switch (pieces.size()) {
      case 1:
        packStep<1>(patches, count, pieces, panel);
        break;
      case 2:
        packStep<2>(patches, count, pieces, panel);
        break;
      case 3:
        packStep<3>(patches, count, pieces, panel);
        break;
      case 4:
        packStep<4>(patches, count, pieces, panel);
        break;
      default:
        packStep<0>(patches, count, pieces, panel);
    }
    panel += kStepHalves16;
  }
}

}  // namespace camshaft::cpu

#endif
