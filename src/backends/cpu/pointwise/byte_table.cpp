#include "backends/cpu/pointwise/byte_table.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>

#include "backends/cpu/simd/isa.h"

namespace camshaft::cpu::pointwise {

namespace {

#if defined(__aarch64__)

// In quarters, whose indices are beyond the range of the others.
class Table {
 public:
  explicit Table(const uint8_t* table)
      : first_(vld1q_u8_x4(table)),
        second_(vld1q_u8_x4(table + 64)),
        third_(vld1q_u8_x4(table + 128)),
        fourth_(vld1q_u8_x4(table + 192)) {}

  // Whole vectors; returns how many bytes these were.
  int64_t lookUp(const uint8_t* from, int64_t count, uint8_t* to) const {
    const uint8x16_t quarter = vdupq_n_u8(64);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
      uint8x16_t index = vld1q_u8(from + i);
      uint8x16_t found = vqtbl4q_u8(first_, index);
      index = vsubq_u8(index, quarter);
      found = vqtbx4q_u8(found, second_, index);
      index = vsubq_u8(index, quarter);
      found = vqtbx4q_u8(found, third_, index);
      index = vsubq_u8(index, quarter);
      vst1q_u8(to + i, vqtbx4q_u8(found, fourth_, index));
    }
    return i;
  }

 private:
  const uint8x16x4_t first_, second_, third_, fourth_;
};

#else

class Table {
 public:
  explicit Table(const uint8_t*) {}
  int64_t lookUp(const uint8_t*, int64_t, uint8_t*) const { return 0; }
};

#endif

#if defined(__x86_64__)

bool hasPermutations() {
  static const bool available = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
  }();
  return available;
}

#define CAMSHAFT_INLINE CAMSHAFT_TARGET inline __attribute__((always_inline))
#define CAMSHAFT_TARGET __attribute__((target("avx512f,avx512bw,avx512vbmi")))

namespace vbmi {

// In halves, each a permutation of two vectors; the top bit of an index says which half.
CAMSHAFT_INLINE __m512i found(const __m512i (&part)[4], __m512i index) {
  const __m512i low = _mm512_permutex2var_epi8(part[0], index, part[1]);
  const __m512i high = _mm512_permutex2var_epi8(part[2], index, part[3]);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
}
#include "backends/cpu/pointwise/byte_table_rows-inl.h"

}  // namespace vbmi

#undef CAMSHAFT_TARGET
#define CAMSHAFT_TARGET __attribute__((target("avx512f,avx512bw")))

namespace avx512 {

// The same of words, for even and odd bytes apart: the lowest bit of an index says which byte of
// the word, which is shifted to where that of the index was.
CAMSHAFT_INLINE __m512i found(const __m512i (&part)[4], __m512i index) {
  const __m512i evenWord = _mm512_srli_epi16(index, 1), oddWord = _mm512_srli_epi16(index, 9);
  const __m512i even =
      _mm512_mask_blend_epi16(_mm512_test_epi16_mask(index, _mm512_set1_epi16(0x80)),
                              _mm512_permutex2var_epi16(part[0], evenWord, part[1]),
                              _mm512_permutex2var_epi16(part[2], evenWord, part[3]));
  const __m512i odd = _mm512_mask_blend_epi16(_mm512_movepi16_mask(index),
                                              _mm512_permutex2var_epi16(part[0], oddWord, part[1]),
                                              _mm512_permutex2var_epi16(part[2], oddWord, part[3]));
  const __m512i byte = _mm512_set1_epi16(8);
  const __m512i down = _mm512_and_si512(_mm512_slli_epi16(index, 3), byte);
  const __m512i up = _mm512_sub_epi16(byte, _mm512_and_si512(_mm512_srli_epi16(index, 5), byte));
  constexpr __mmask64 kOdd = 0xaaaaaaaaaaaaaaaa;
  return _mm512_mask_blend_epi8(kOdd, _mm512_srlv_epi16(even, down), _mm512_sllv_epi16(odd, up));
}
#include "backends/cpu/pointwise/byte_table_rows-inl.h"

}  // namespace avx512

#undef CAMSHAFT_TARGET
#undef CAMSHAFT_INLINE

// In sixteen parts, each xor the one before it: an index finds its own and all before it, since
// those behind it are asked for a negative place, and gets zeros.
__attribute__((target("avx2"))) void lookUpByShuffles(const uint8_t* table, const uint8_t* from,
                                                      uint8_t* to, int64_t rows, int64_t columns,
                                                      int64_t stride) {
  constexpr int kHalf = 8;
  __m256i parts[2 * kHalf];
  for (int i = 0; i < 2 * kHalf; ++i) {
    const auto part = [&](int number) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * number));
    };
    parts[i] =
        _mm256_broadcastsi128_si256(i % kHalf ? _mm_xor_si128(part(i), part(i - 1)) : part(i));
  }
  const __m256i next = _mm256_set1_epi8(16), half = _mm256_set1_epi8(-128);
  for (int64_t row = 0; row < rows; ++row, from += stride, to += stride) {
    int64_t i = 0;
    for (; i + 32 <= columns; i += 32) {
      __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
      __m256i high = _mm256_xor_si256(low, half), found = _mm256_setzero_si256();
#pragma GCC unroll 8
      for (int part = 0; part < kHalf; ++part) {
        found = _mm256_xor_si256(found, _mm256_shuffle_epi8(parts[part], low));
        found = _mm256_xor_si256(found, _mm256_shuffle_epi8(parts[kHalf + part], high));
        low = _mm256_subs_epi8(low, next);
        high = _mm256_subs_epi8(high, next);
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), found);
    }
    for (; i < columns; ++i) to[i] = table[from[i]];
  }
}

#endif

}  // namespace

void lookUp(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t rows, int64_t columns,
            int64_t stride) {
  if (stride == columns) {  // one run
    columns *= rows;
    rows = 1;
  }
#if defined(__x86_64__)
  if (isaName() == "avx512")
    return (hasPermutations() ? vbmi::lookUpRows : avx512::lookUpRows)(table, from, to, rows,
                                                                       columns, stride);
  if (isaName() == "avx2") return lookUpByShuffles(table, from, to, rows, columns, stride);
#endif
  const Table vectors(table);
  for (int64_t row = 0; row < rows; ++row, from += stride, to += stride)
    for (int64_t i = vectors.lookUp(from, columns, to); i < columns; ++i) to[i] = table[from[i]];
}

}  // namespace camshaft::cpu::pointwise
