// Rows of the first operand as strips.
#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backends/cpu/gemm_int8/product.h"
#include "backends/cpu/simd/isa.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// Less than eight bytes; where `isLong`, those before them can be read, as many as make eight.
uint64_t lastBytes(const uint8_t* from, int64_t count, bool isLong) {
  uint64_t bytes = 0;
  if (!isLong) {
    for (int64_t i = 0; i < count; ++i) bytes |= uint64_t{from[i]} << 8 * i;
    return bytes;
  }
  std::memcpy(&bytes, from + count - 8, 8);
  return bytes >> 8 * (8 - count);
}

#if defined(__x86_64__)

// packRunOf() of kQuads, whose steps are vectors.
__attribute__((target("avx512f,avx512bw"))) uint8_t* packVectors(const uint8_t* const* rows,
                                                                 int64_t count, uint8_t flip,
                                                                 uint8_t* strip) {
  constexpr int64_t kRows = kQuads.stripRows, kDepth = kQuads.depth;
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
  const __mmask64 rest = (uint64_t{1} << count % kDepth) - 1;
  for (int64_t row = 0; row < kRows; ++row) {
    const uint8_t* from = rows[row];
    uint8_t* to = strip + row * kDepth;
    const uint8_t* const end = from + count / kDepth * kDepth;
    for (; from < end; from += kDepth, to += kRows * kDepth)
      _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_loadu_si512(from), flips));
    if (rest)
      _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, from),
                                               _mm512_maskz_mov_epi8(rest, flips)));
  }
  return strip + (count + kDepth - 1) / kDepth * kRows * kDepth;
}

#endif

// One row after the other: what is written could be the pointers to them, which would be read again
// at every step.
template <int64_t kRows, int64_t kDepth>
uint8_t* packRunOf(const uint8_t* const* rows, int64_t count, uint8_t flip, uint8_t* strip) {
  static_assert(std::endian::native == std::endian::little);
  const uint64_t flips = flip * 0x0101010101010101u;
  for (int64_t row = 0; row < kRows; ++row) {
    const uint8_t* from = rows[row];
    uint8_t* to = strip + row * kDepth;
    int64_t left = count;
    for (; left >= kDepth; left -= kDepth, from += kDepth, to += kRows * kDepth) {
      uint64_t bytes[kDepth / 8];
      std::memcpy(bytes, from, kDepth);
      for (uint64_t& eight : bytes) eight ^= flips;
      std::memcpy(to, bytes, kDepth);
    }
    if (left == 0) continue;
    for (int64_t i = 0; i < kDepth; i += 8, left -= 8) {
      uint64_t bytes = 0;
      if (left >= 8) {
        std::memcpy(&bytes, from + i, 8);
        bytes ^= flips;
      } else if (left > 0) {
        bytes = lastBytes(from + i, left, count >= 8) ^ (flips >> 8 * (8 - left));
      }
      std::memcpy(to + i, &bytes, 8);
    }
  }
  return strip + (count + kDepth - 1) / kDepth * kRows * kDepth;
}

}  // namespace

uint8_t* packRun(const Layout& layout, const uint8_t* const* rows, int64_t count, uint8_t flip,
                 uint8_t* strip) {
  switch (layout.kind) {
    case Layout::Kind::kPairs:
      return packRunOf<kPairs.stripRows, kPairs.depth>(rows, count, flip, strip);
    case Layout::Kind::kPanels:
      return packRunOf<kPanels.stripRows, kPanels.depth>(rows, count, flip, strip);
    case Layout::Kind::kQuads:
    case Layout::Kind::kTaps:
#if defined(__x86_64__)
      if (isaName() == "avx512") return packVectors(rows, count, flip, strip);
#endif
      return packRunOf<kQuads.stripRows, kQuads.depth>(rows, count, flip, strip);
  }
  return strip;
}

void packRows(const Layout& layout, const uint8_t* a, int64_t count, int64_t k, uint8_t flip,
              uint8_t* strip) {
  const uint8_t* rows[kMostStripRows];
  for (int64_t i = 0; i < layout.stripRows; ++i) rows[i] = a + std::min(i, count - 1) * k;
  packRun(layout, rows, k, flip, strip);
}

}  // namespace camshaft::cpu::gemm_int8
