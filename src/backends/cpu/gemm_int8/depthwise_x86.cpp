// Depthwise sums by AVX-512's vpdpbusd: four taps of eight channels at a time, bytes as u8.
#include "backends/cpu/gemm_int8/depthwise.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define CAMSHAFT_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define CAMSHAFT_VNNI_INLINE CAMSHAFT_VNNI inline __attribute__((always_inline))

namespace camshaft::cpu::gemm_int8 {
namespace {

constexpr int kPixels = 4;   // at a time
constexpr int kVectors = 4;  // of eight channels, in a block
constexpr int64_t kQuadBytes = kBlockColumns * 4;

// The channels of four taps, side by side.
template <bool kSigned, bool kWhole>
CAMSHAFT_VNNI_INLINE void loadQuad(const uint8_t* const* taps, int64_t channel, __mmask32 there,
                                   __m256i (&quads)[kVectors]) {
  __m256i x[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const uint8_t* from = taps[i * kDepthwisePixels] + channel;
    x[i] = kWhole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))
                  : _mm256_maskz_loadu_epi8(there, from);
    if (kSigned) x[i] = _mm256_xor_si256(x[i], _mm256_set1_epi8(static_cast<char>(0x80)));
  }
  const __m256i lowA = _mm256_unpacklo_epi8(x[0], x[1]), highA = _mm256_unpackhi_epi8(x[0], x[1]);
  const __m256i lowB = _mm256_unpacklo_epi8(x[2], x[3]), highB = _mm256_unpackhi_epi8(x[2], x[3]);
  quads[0] = _mm256_unpacklo_epi16(lowA, lowB);
  quads[1] = _mm256_unpackhi_epi16(lowA, lowB);
  quads[2] = _mm256_unpacklo_epi16(highA, highB);
  quads[3] = _mm256_unpackhi_epi16(highA, highB);
}

CAMSHAFT_VNNI_INLINE void addDots(__m256i (&sum)[kVectors], const __m256i (&quads)[kVectors],
                                  const int8_t* filter) {
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i)
    sum[i] = _mm256_dpbusd_epi32(
        sum[i], quads[i], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(filter + i * 32)));
}

// Neighbours: each column of the picture is unpacked once, for all windows that it is part of.
template <bool kSigned, bool kWhole>
CAMSHAFT_VNNI_INLINE void sumColumns(const DepthwiseBlock& block, const uint8_t* const* taps,
                                     __mmask32 there, __m256i (&sum)[kPixels][kVectors]) {
  const int64_t perColumn = block.columnTaps, width = block.tapCount / perColumn;
  const auto* filters = static_cast<const int8_t*>(block.filters);
  for (int64_t column = 0; column < width + kPixels - 1; ++column) {
    const int64_t pixel = column < kPixels ? column : kPixels - 1;
    const uint8_t* const* from = taps + (column - pixel) * perColumn * kDepthwisePixels + pixel;
    for (int64_t row = 0; row < perColumn; row += 4, from += 4 * kDepthwisePixels) {
      __m256i quads[kVectors];
      loadQuad<kSigned, kWhole>(from, block.channel, there, quads);
#pragma GCC unroll 4
      for (int p = 0; p < kPixels; ++p)
        if (const int64_t tap = column - p; tap >= 0 && tap < width)
          addDots(sum[p], quads, filters + (tap * perColumn + row) / 4 * kQuadBytes);
    }
  }
}

// Whatever the windows are.
template <bool kSigned, bool kWhole>
CAMSHAFT_VNNI_INLINE void sumWindows(const DepthwiseBlock& block, const uint8_t* const* taps,
                                     __mmask32 there, __m256i (&sum)[kPixels][kVectors]) {
  const auto* filters = static_cast<const int8_t*>(block.filters);
  for (int64_t tap = 0; tap < block.tapCount;
       tap += 4, taps += 4 * kDepthwisePixels, filters += kQuadBytes) {
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) {
      __m256i quads[kVectors];
      loadQuad<kSigned, kWhole>(taps + p, block.channel, there, quads);
      addDots(sum[p], quads, filters);
    }
  }
}

template <bool kSigned, bool kWhole>
CAMSHAFT_VNNI void sumBlock(const DepthwiseBlock& block) {
  const auto there =
      static_cast<__mmask32>(block.channels >= 32 ? ~0u : (1u << block.channels) - 1);
  for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += kPixels) {
    __m256i sum[kPixels][kVectors];
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) sum[p][i] = _mm256_setzero_si256();
    if (block.shares[pixel / kPixels])
      sumColumns<kSigned, kWhole>(block, block.taps + pixel, there, sum);
    else
      sumWindows<kSigned, kWhole>(block, block.taps + pixel, there, sum);
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        int32_t* to = block.sums + (pixel + p) * kBlockColumns + i * 4;
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(sum[p][i]));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16),
                         _mm256_extracti128_si256(sum[p][i], 1));
      }
  }
}

}  // namespace

void sumDepthwiseWithVnni(const DepthwiseBlock& block) {
  if (block.isSigned)
    block.channels == kBlockColumns ? sumBlock<true, true>(block) : sumBlock<true, false>(block);
  else
    block.channels == kBlockColumns ? sumBlock<false, true>(block) : sumBlock<false, false>(block);
}

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

void sumDepthwiseWithVnni(const DepthwiseBlock&) {}  // never called where kTaps is no layout

}  // namespace camshaft::cpu::gemm_int8

#endif
