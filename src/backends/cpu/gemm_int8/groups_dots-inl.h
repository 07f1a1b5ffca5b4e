// Sums of groups by dot products of four channels, a vector's four output channels being of one
// group. Goes with depthwise_dots-inl.h, which it takes addDots() and kPixels from.
#include <arm_neon.h>

#include "backends/cpu/gemm_int8/depthwise_dots-inl.h"
#include "backends/cpu/gemm_int8/groups.h"

namespace camshaft::cpu::gemm_int8 {
namespace {

constexpr int kGroupVectors = 4;  // at a time

uint8x16_t sameQuad(const uint8_t* from) {
  uint32_t quad;
  __builtin_memcpy(&quad, from, sizeof quad);
  return vreinterpretq_u8_u32(vdupq_n_u32(quad));
}

template <bool kSigned>
void sumGroupVectors(const GroupBlock& block, int64_t pixel, int64_t column) {
  int32x4_t sum[kPixels][kGroupVectors];
#pragma GCC unroll 4
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
    for (int v = 0; v < kGroupVectors; ++v) sum[p][v] = vdupq_n_s32(0);
  const int32_t* firsts = block.firsts + column;
  const int8_t* filters = block.filters + column * 4;
  const uint8_t* const* taps = block.taps + pixel;
  for (int64_t tap = 0; tap < block.tapCount; ++tap, taps += kDepthwisePixels) {
    for (int64_t quad = 0; quad < block.quads; ++quad, filters += kBlockColumns * 4) {
#pragma GCC unroll 4
      for (int v = 0; v < kGroupVectors; ++v) {
        const int8x16_t w = vld1q_s8(filters + v * 16);
#pragma GCC unroll 4
        for (int p = 0; p < kPixels; ++p)
          sum[p][v] = addDots<kSigned>(sum[p][v], sameQuad(taps[p] + firsts[v * 4] + quad * 4), w);
      }
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
    for (int v = 0; v < kGroupVectors; ++v)
      vst1q_s32(block.sums + (pixel + p) * kBlockColumns + column + v * 4, sum[p][v]);
}

void sumGroupsByDots(const GroupBlock& block) {
  for (int64_t column = 0; column < kBlockColumns; column += kGroupVectors * 4)
    for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += kPixels)
      block.isSigned ? sumGroupVectors<true>(block, pixel, column)
                     : sumGroupVectors<false>(block, pixel, column);
}

}  // namespace
}  // namespace camshaft::cpu::gemm_int8
