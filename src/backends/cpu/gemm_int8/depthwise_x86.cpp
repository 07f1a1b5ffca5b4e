// Depthwise sums on x86: by vpdpbusd of AVX-512 or AVX, and by what AVX2 has instead.
#include "backends/cpu/gemm_int8/depthwise.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

namespace camshaft::cpu::gemm_int8 {

namespace {

namespace avx512_vnni {

#define CAMSHAFT_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define CAMSHAFT_INLINE CAMSHAFT_TARGET inline __attribute__((always_inline))

constexpr int kVectors = 4;
CAMSHAFT_INLINE __m256i loadSome(const uint8_t* from, int64_t count) {
  return _mm256_maskz_loadu_epi8(static_cast<__mmask32>((1u << count) - 1), from);
}
using Quads = __m256i;
CAMSHAFT_INLINE Quads taken(__m256i x) { return x; }
CAMSHAFT_INLINE __m256i addDots(__m256i sum, Quads x, __m256i w) {
  return _mm256_dpbusd_epi32(sum, x, w);
}
#include "backends/cpu/gemm_int8/depthwise_taps-inl.h"

#undef CAMSHAFT_TARGET
#undef CAMSHAFT_INLINE

}  // namespace avx512_vnni

#define CAMSHAFT_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

// The first so many of 32 bytes: words where they lie, what fills none from a copy.
CAMSHAFT_AVX2_INLINE __m256i loadSome(const uint8_t* from, int64_t count) {
  if (count % 4 == 0) {
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i words = _mm256_set1_epi32(static_cast<int32_t>(count / 4));
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(from),
                                 _mm256_cmpgt_epi32(words, places));
  }
  uint8_t bytes[32] = {};
  std::memcpy(bytes, from, count);
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

namespace avx_vnni {

#define CAMSHAFT_TARGET __attribute__((target("avx2,avxvnni")))
#define CAMSHAFT_INLINE CAMSHAFT_TARGET inline __attribute__((always_inline))

constexpr int kVectors = 2;
using Quads = __m256i;
CAMSHAFT_INLINE Quads taken(__m256i x) { return x; }
CAMSHAFT_INLINE __m256i addDots(__m256i sum, Quads x, __m256i w) {
  return _mm256_dpbusd_avx_epi32(sum, x, w);
}
#include "backends/cpu/gemm_int8/depthwise_taps-inl.h"

#undef CAMSHAFT_TARGET
#undef CAMSHAFT_INLINE

}  // namespace avx_vnni

namespace avx2 {

#define CAMSHAFT_TARGET __attribute__((target("avx2")))
#define CAMSHAFT_INLINE CAMSHAFT_AVX2_INLINE

constexpr int kVectors = 2;
struct Quads {
  __m256i even, odd;  // as 16 bits
};
CAMSHAFT_INLINE Quads taken(__m256i x) {
  return {_mm256_and_si256(x, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(x, 8)};
}
CAMSHAFT_INLINE __m256i addDots(__m256i sum, const Quads& x, __m256i w) {
  const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8), odd = _mm256_srai_epi16(w, 8);
  const __m256i products =
      _mm256_add_epi32(_mm256_madd_epi16(x.even, even), _mm256_madd_epi16(x.odd, odd));
  return _mm256_add_epi32(sum, products);
}
#include "backends/cpu/gemm_int8/depthwise_taps-inl.h"

#undef CAMSHAFT_TARGET
#undef CAMSHAFT_INLINE

}  // namespace avx2

}  // namespace

void sumDepthwiseWithAvx2(const DepthwiseBlock& block) { avx2::sumAnyBlock(block); }
void sumDepthwiseWithAvxVnni(const DepthwiseBlock& block) { avx_vnni::sumAnyBlock(block); }
void sumDepthwiseWithVnni(const DepthwiseBlock& block) { avx512_vnni::sumAnyBlock(block); }

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

// Never called where kTaps is no layout.
void sumDepthwiseWithAvx2(const DepthwiseBlock&) {}
void sumDepthwiseWithAvxVnni(const DepthwiseBlock&) {}
void sumDepthwiseWithVnni(const DepthwiseBlock&) {}

}  // namespace camshaft::cpu::gemm_int8

#endif
