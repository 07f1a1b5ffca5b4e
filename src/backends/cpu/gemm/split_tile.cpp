#include "backends/cpu/gemm/split_tile.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm/split_gemm.h"
#include "backends/cpu/simd/amx_tiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>

#define CAMSHAFT_AMX \
  __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512bf16")))

namespace camshaft::cpu {

namespace {

constexpr int64_t kTileBytes = 1024;

bool detect() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
         hasAmx(AmxProduct::kBf16);
}

}  // namespace

bool hasSplitGemm() {
  static const bool available = detect();
  return available;
}

CAMSHAFT_AMX void splitRows(const float* a, int64_t lda, int64_t rows, int64_t k, float* split) {
  constexpr __mmask16 kAll = 0xffff;  // the unmasked forms warn in GCC 12
  const __m512 infinity = _mm512_set1_ps(__builtin_inff());
  auto* to = reinterpret_cast<char*>(split);
  for (int64_t step = 0; step < k; step += kSplitDepth, to += 4 * kTileBytes) {
    for (int64_t i = 0; i < kSplitRows; ++i) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t left = std::clamp<int64_t>(k - step - half * 16, 0, 16);
        const __mmask16 mask =
            i < rows ? static_cast<__mmask16>((1u << left) - 1) : static_cast<__mmask16>(0);
        const float* from = a + i * lda + step + half * 16;
        const __m512 x = _mm512_maskz_loadu_ps(mask, mask ? from : a);
        const __m256i high = (__m256i)_mm512_cvtneps_pbh(x);
        const __m512 rounded = _mm512_castsi512_ps(
            _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, high), 16));
        const __mmask16 finite = _mm512_cmp_ps_mask(_mm512_abs_ps(rounded), infinity, _CMP_LT_OQ);
        const __m256i low = (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_sub_ps(finite, x, rounded));
        char* at = to + i / 16 * kTileBytes + i % 16 * 64 + half * 32;
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), high);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + 2 * kTileBytes), low);
      }
    }
  }
}

CAMSHAFT_AMX void multiplySplit(const float* splitA, const float* packedB, int64_t steps,
                                const char* ahead, int64_t aheadBytes, float* products) {
  const auto* a = reinterpret_cast<const char*>(splitA);
  const auto* b = reinterpret_cast<const char*>(packedB);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  // A step of both operands is high top, high bottom, low top, low bottom, a tile each; for B top
  // and bottom are left and right. Tiles 0 to 3 gather the results.
  for (int64_t i = 0; i < steps; ++i, a += 4 * kTileBytes, b += 4 * kTileBytes) {
    for (int64_t line = 0; line < aheadBytes; line += 64) __builtin_prefetch(ahead + line, 0, 2);
    ahead += aheadBytes;
    _tile_loadd(4, a, 64);
    _tile_loadd(5, a + kTileBytes, 64);
    _tile_loadd(6, b + 2 * kTileBytes, 64);
    _tile_loadd(7, b + 3 * kTileBytes, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(6, b, 64);
    _tile_loadd(7, b + kTileBytes, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(4, a + 2 * kTileBytes, 64);
    _tile_loadd(5, a + 3 * kTileBytes, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  constexpr int64_t kRowBytes = kSplitColumns * 4;
  _tile_stored(0, products, kRowBytes);
  _tile_stored(1, products + 16, kRowBytes);
  _tile_stored(2, products + 16 * kSplitColumns, kRowBytes);
  _tile_stored(3, products + 16 * kSplitColumns + 16, kRowBytes);
}

}  // namespace camshaft::cpu

#else

namespace camshaft::cpu {

// Never called where hasSplitGemm() is false.
bool hasSplitGemm() { return false; }
void splitRows(const float*, int64_t, int64_t, int64_t, float*) {}
void multiplySplit(const float*, const float*, int64_t, const char*, int64_t, float*) {}

}  // namespace camshaft::cpu

#endif
