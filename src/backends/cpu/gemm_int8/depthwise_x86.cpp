// Sums of depthwise convolutions and of groups on x86: by vpdpbusd of AVX-512 or AVX, and by what
// AVX2 has instead.
#include "backends/cpu/gemm_int8/depthwise.h"

#include "backends/cpu/gemm_int8/groups.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

namespace camshaft::cpu::gemm_int8 {

namespace {

inline int32_t quadAt(const uint8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof quad);
  return quad;
}

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

namespace groups {

using Vector = __m512i;
using Quads = __m512i;
constexpr int kLanes = 16, kGroupPixels = 8;
constexpr __mmask16 kAll = 0xffff;  // the unmasked forms warn in GCC 12

struct Places {
  __m512i quads;
  __mmask16 loaded;  // up to the last of them
  CAMSHAFT_INLINE explicit Places(const int32_t* firsts) {
    const __m512i bytes =
        _mm512_sub_epi32(_mm512_loadu_si512(firsts), _mm512_set1_epi32(firsts[0]));
    quads = _mm512_maskz_srli_epi32(kAll, bytes, 2);
    loaded = static_cast<__mmask16>((2u << (firsts[kLanes - 1] - firsts[0]) / 4) - 1);
  }
};
CAMSHAFT_INLINE Vector loadPlaces(const uint8_t* from, const Places& places) {
  return _mm512_maskz_permutexvar_epi32(kAll, places.quads,
                                        _mm512_maskz_loadu_epi32(places.loaded, from));
}
CAMSHAFT_INLINE Vector sameQuad(const uint8_t* from) { return _mm512_set1_epi32(quadAt(from)); }
CAMSHAFT_INLINE Vector flipped(Vector x) {
  return _mm512_xor_si512(x, _mm512_set1_epi32(static_cast<int32_t>(0x80808080)));
}
CAMSHAFT_INLINE Quads taken(Vector x) { return x; }
CAMSHAFT_INLINE Vector loadFilters(const int8_t* from) { return _mm512_loadu_si512(from); }
CAMSHAFT_INLINE Vector addDots(Vector sum, Quads x, Vector w) {
  return _mm512_dpbusd_epi32(sum, x, w);
}
CAMSHAFT_INLINE Vector zero() { return _mm512_setzero_si512(); }
CAMSHAFT_INLINE void storeSums(int32_t* to, Vector sum) { _mm512_storeu_si512(to, sum); }
#include "backends/cpu/gemm_int8/groups_quads-inl.h"

}  // namespace groups

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

// What groups want of vectors of 256 bits.
struct Places256 {
  __m256i quads, loaded;
  CAMSHAFT_AVX2_INLINE explicit Places256(const int32_t* firsts) {
    const auto* at = reinterpret_cast<const __m256i*>(firsts);
    quads = _mm256_srli_epi32(
        _mm256_sub_epi32(_mm256_loadu_si256(at), _mm256_set1_epi32(firsts[0])), 2);
    const __m256i last = _mm256_set1_epi32((firsts[7] - firsts[0]) / 4);
    loaded = _mm256_cmpgt_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), last);
    loaded = _mm256_xor_si256(loaded, _mm256_set1_epi32(-1));
  }
};
CAMSHAFT_AVX2_INLINE __m256i loadPlaces(const uint8_t* from, const Places256& places) {
  const __m256i some = _mm256_maskload_epi32(reinterpret_cast<const int*>(from), places.loaded);
  return _mm256_permutevar8x32_epi32(some, places.quads);
}
CAMSHAFT_AVX2_INLINE __m256i sameQuad(const uint8_t* from) {
  return _mm256_set1_epi32(quadAt(from));
}
CAMSHAFT_AVX2_INLINE __m256i flipped(__m256i x) {
  return _mm256_xor_si256(x, _mm256_set1_epi8(static_cast<char>(0x80)));
}
CAMSHAFT_AVX2_INLINE __m256i zero() { return _mm256_setzero_si256(); }
CAMSHAFT_AVX2_INLINE __m256i loadFilters(const int8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
CAMSHAFT_AVX2_INLINE void storeSums(int32_t* to, __m256i sum) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum);
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

using Vector = __m256i;
using Places = Places256;
constexpr int kLanes = 8, kGroupPixels = 4;
#include "backends/cpu/gemm_int8/groups_quads-inl.h"

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

using Vector = __m256i;
using Places = Places256;
constexpr int kLanes = 8, kGroupPixels = 2;
#include "backends/cpu/gemm_int8/groups_quads-inl.h"

#undef CAMSHAFT_TARGET
#undef CAMSHAFT_INLINE

}  // namespace avx2

}  // namespace

void sumDepthwiseWithAvx2(const DepthwiseBlock& block) { avx2::sumAnyBlock(block); }
void sumDepthwiseWithAvxVnni(const DepthwiseBlock& block) { avx_vnni::sumAnyBlock(block); }
void sumDepthwiseWithVnni(const DepthwiseBlock& block) { avx512_vnni::sumAnyBlock(block); }

void sumGroupsWithAvx2(const GroupBlock& block) { avx2::sumAnyGroups(block); }
void sumGroupsWithAvxVnni(const GroupBlock& block) { avx_vnni::sumAnyGroups(block); }
void sumGroupsWithVnni(const GroupBlock& block) { avx512_vnni::groups::sumAnyGroups(block); }

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

// Never called where kTaps is no layout.
void sumDepthwiseWithAvx2(const DepthwiseBlock&) {}
void sumDepthwiseWithAvxVnni(const DepthwiseBlock&) {}
void sumDepthwiseWithVnni(const DepthwiseBlock&) {}
void sumGroupsWithAvx2(const GroupBlock&) {}
void sumGroupsWithAvxVnni(const GroupBlock&) {}
void sumGroupsWithVnni(const GroupBlock&) {}

}  // namespace camshaft::cpu::gemm_int8

#endif
