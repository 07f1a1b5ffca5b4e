#include "support/half.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace camshaft {
namespace {

template <class Narrow>
void widen(const Narrow* from, float* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

// One-byte types have so few values that looking them up beats computing them.
template <class Narrow>
void widenByTable(const Narrow* from, float* to, size_t count) {
  static_assert(sizeof(Narrow) == 1);
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values;
    for (size_t bits = 0; bits < values.size(); ++bits)
      values[bits] = static_cast<float>(Narrow::fromBits(static_cast<uint8_t>(bits)));
    return values;
  }();
  for (size_t i = 0; i < count; ++i) to[i] = table[from[i].bits];
}

template <class Narrow>
void narrow(const float* from, Narrow* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = Narrow(from[i]);
}

#if defined(__x86_64__)
// Not every compiler can ask for F16C by name; each CPU with AVX2 has it.
bool hasF16c() { return __builtin_cpu_supports("avx2"); }

// Both return how many elements they converted: all whole groups of eight.
__attribute__((target("avx,f16c"))) size_t widenF16c(const Half* from, float* to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
  return i;
}

__attribute__((target("avx,f16c"))) size_t narrowF16c(const float* from, Half* to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
  return i;
}
#endif

}  // namespace

void convertToFloat(const Half* from, float* to, size_t count) {
  size_t done = 0;
#if defined(__x86_64__)
  if (hasF16c()) done = widenF16c(from, to, count);
#endif
  widen(from + done, to + done, count - done);
}

void convertFromFloat(const float* from, Half* to, size_t count) {
  size_t done = 0;
#if defined(__x86_64__)
  if (hasF16c()) done = narrowF16c(from, to, count);
#endif
  narrow(from + done, to + done, count - done);
}

void convertToFloat(const BFloat16* from, float* to, size_t count) { widen(from, to, count); }
void convertFromFloat(const float* from, BFloat16* to, size_t count) { narrow(from, to, count); }

template <class Narrow>
void convertToFloat(const Narrow* from, float* to, size_t count) {
  widenByTable(from, to, count);
}
template <class Narrow>
void convertFromFloat(const float* from, Narrow* to, size_t count) {
  narrow(from, to, count);
}
#define CAMSHAFT_ONE_BYTE_FLOAT(Narrow)                                \
  template void convertToFloat<Narrow>(const Narrow*, float*, size_t); \
  template void convertFromFloat<Narrow>(const float*, Narrow*, size_t);
CAMSHAFT_ONE_BYTE_FLOAT(Float8E4M3)
CAMSHAFT_ONE_BYTE_FLOAT(Float8E5M2)
CAMSHAFT_ONE_BYTE_FLOAT(Float8E4M3Fnuz)
CAMSHAFT_ONE_BYTE_FLOAT(Float8E5M2Fnuz)
CAMSHAFT_ONE_BYTE_FLOAT(Float8E8M0)

}  // namespace camshaft
