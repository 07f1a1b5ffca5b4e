// What softmax sums up, for code inside HWY_NAMESPACE of files that are compiled for chains of
// steps (src/CMakeLists.txt).

#include <limits>

#include "backends/cpu/simd/targets.h"
#include "backends/cpu/simd/vmath-inl.h"
#include "backends/cpu/simd/vector-inl.h"
#include "hwy/highway.h"

#if defined(CAMSHAFT_CPU_EXPONENTIALS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMSHAFT_CPU_EXPONENTIALS_INL_H_
#undef CAMSHAFT_CPU_EXPONENTIALS_INL_H_
#else
#define CAMSHAFT_CPU_EXPONENTIALS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

// e^(x - shift) of vectors in turn, whose steps do not wait for each other; their sum.
template <int kVectors, class D>
HWY_INLINE hn::Vec<D> exponentials(D d, const float* x, hn::Vec<D> shift, float* terms) {
  const size_t lanes = hn::Lanes(d);
  hn::Vec<D> e[kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) e[i] = hn::Sub(hn::LoadU(d, x + i * lanes), shift);
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) e[i] = vmath::expOfNegative(d, e[i]);
  hn::Vec<D> sum = e[0];
#pragma GCC unroll 4
  for (int i = 1; i < kVectors; ++i) sum = hn::Add(sum, e[i]);
#pragma GCC unroll 4
  for (int i = 0; terms && i < kVectors; ++i) hn::StoreU(e[i], d, terms + i * lanes);
  return sum;
}

// Sum of e^(x - shift) where no x is above `shift`. The terms are stored when `terms` is given,
// which may be x.
HWY_INLINE float sumOfExponentials(const float* x, float shift, float* terms, size_t count) {
  constexpr int kVectors = 4;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto by = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes)
    sum = hn::Add(sum, exponentials<kVectors>(d, x + i, by, terms ? terms + i : nullptr));
  for (; i + lanes <= count; i += lanes)
    sum = hn::Add(sum, exponentials<1>(d, x + i, by, terms ? terms + i : nullptr));
  if (const size_t rest = count - i) {
    const float nothing = -std::numeric_limits<float>::infinity();
    const auto e = vmath::expOfNegative(d, hn::Sub(loadFirst(d, x + i, rest, nothing), by));
    if (terms) storeFirst(e, d, terms + i, rest);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
