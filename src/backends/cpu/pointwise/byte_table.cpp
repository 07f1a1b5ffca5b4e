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

// In halves, each a permutation of two vectors; the top bit of an index says which half.
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void lookUpByPermutations(
    const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t rows, int64_t columns,
    int64_t stride) {
  __m512i part[4];
  for (int i = 0; i < 4; ++i) part[i] = _mm512_loadu_si512(table + 64 * i);
  for (int64_t row = 0; row < rows; ++row, from += stride, to += stride) {
    for (int64_t i = 0; i < columns; i += 64) {
      const int64_t left = std::min<int64_t>(64, columns - i);
      const __mmask64 there = ~uint64_t{0} >> (64 - left);
      const __m512i index = _mm512_maskz_loadu_epi8(there, from + i);
      const __m512i low = _mm512_permutex2var_epi8(part[0], index, part[1]);
      const __m512i high = _mm512_permutex2var_epi8(part[2], index, part[3]);
      _mm512_mask_storeu_epi8(to + i, there,
                              _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high));
    }
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
  if (isaName() == "avx512" && hasPermutations())
    return lookUpByPermutations(table, from, to, rows, columns, stride);
#endif
  const Table vectors(table);
  for (int64_t row = 0; row < rows; ++row, from += stride, to += stride)
    for (int64_t i = vectors.lookUp(from, columns, to); i < columns; ++i) to[i] = table[from[i]];
}

}  // namespace camshaft::cpu::pointwise
