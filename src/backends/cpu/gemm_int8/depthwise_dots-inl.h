// Depthwise sums by dot products of four taps: of u8 as they are where the CPU has usdot, otherwise
// less 128. For files compiled for CPUs that have dot products, each of which has its own copy.
#include <arm_neon.h>

#include "backends/cpu/gemm_int8/depthwise.h"

namespace camshaft::cpu::gemm_int8 {
namespace {

constexpr int kPixels = 4;  // at a time

template <bool kSigned>
int32x4_t addDots(int32x4_t sum, uint8x16_t x, int8x16_t w) {
#if defined(__ARM_FEATURE_MATMUL_INT8)
  if constexpr (!kSigned) return vusdotq_s32(sum, x, w);
#else
  if constexpr (!kSigned) x = veorq_u8(x, vdupq_n_u8(0x80));
#endif
  return vdotq_s32(sum, vreinterpretq_s8_u8(x), w);
}

uint8x16_t zipPairs(uint8x16_t a, uint8x16_t b, bool upper) {
  const uint16x8_t first = vreinterpretq_u16_u8(a), second = vreinterpretq_u16_u8(b);
  return vreinterpretq_u8_u16(upper ? vzip2q_u16(first, second) : vzip1q_u16(first, second));
}

// kVectors times four channels, of which `channels` can be read.
template <int kVectors>
uint8x16_t loadChannels(const uint8_t* from, int64_t channels) {
  if constexpr (kVectors == 4) {
    return vld1q_u8(from);
  } else {
    if (channels >= 8) return vcombine_u8(vld1_u8(from), vdup_n_u8(0));
    uint8_t some[16] = {};
    for (int64_t i = 0; i < channels; ++i) some[i] = from[i];
    return vld1q_u8(some);
  }
}

// Four pixels by sixteen channels (kVectors 4) or eight (2).
template <bool kSigned, int kVectors>
void sumChannels(const DepthwiseBlock& block, int64_t pixel, int64_t first, int64_t channels) {
  int32x4_t sum[kPixels][kVectors];
#pragma GCC unroll 4
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) sum[p][i] = vdupq_n_s32(0);
  const uint8_t* const* taps = block.taps + pixel;
  const int8_t* filters = static_cast<const int8_t*>(block.filters) + first * 4;
  const int64_t at = block.channel + first;
  for (int64_t tap = 0; tap < block.tapCount;
       tap += 4, taps += 4 * kDepthwisePixels, filters += kBlockColumns * 4) {
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) {
      uint8x16_t x[4];
#pragma GCC unroll 4
      for (int t = 0; t < 4; ++t)
        x[t] = loadChannels<kVectors>(taps[t * kDepthwisePixels + p] + at, channels);
#pragma GCC unroll 2
      for (int half = 0; half < kVectors / 2; ++half) {
        const uint8x16_t ab = half ? vzip2q_u8(x[0], x[1]) : vzip1q_u8(x[0], x[1]);
        const uint8x16_t cd = half ? vzip2q_u8(x[2], x[3]) : vzip1q_u8(x[2], x[3]);
        const int8_t* w = filters + half * 32;
        sum[p][2 * half] = addDots<kSigned>(sum[p][2 * half], zipPairs(ab, cd, false), vld1q_s8(w));
        sum[p][2 * half + 1] =
            addDots<kSigned>(sum[p][2 * half + 1], zipPairs(ab, cd, true), vld1q_s8(w + 16));
      }
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i)
      vst1q_s32(block.sums + (pixel + p) * kBlockColumns + first + 4 * i, sum[p][i]);
}

template <bool kSigned>
void sumBlock(const DepthwiseBlock& block) {
  int64_t first = 0;
  for (; first + 16 <= block.channels; first += 16)
    for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += kPixels)
      sumChannels<kSigned, 4>(block, pixel, first, 16);
  for (; first < block.channels; first += 8)
    for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += kPixels)
      sumChannels<kSigned, 2>(block, pixel, first, block.channels - first);
}

void sumWithDots(const DepthwiseBlock& block) {
  if (block.isSigned)
    sumBlock<true>(block);
  else
    sumBlock<false>(block);
}

}  // namespace
}  // namespace camshaft::cpu::gemm_int8
