#include "backends/cpu/attention/masked_softmax.h"

#include <algorithm>
#include <limits>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/attention/masked_softmax.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/exponentials-inl.h"
#include "backends/cpu/simd/vmath-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

using attention::RowMask;

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// Lanes whose byte is set.
template <class D, class VB>
HWY_INLINE hn::Mask<D> chosen(D d, VB bytes) {
  const hn::RebindToSigned<D> di;
  return hn::RebindMask(d, hn::Ne(hn::PromoteTo(di, bytes), hn::Zero(di)));
}

template <class D>
HWY_INLINE hn::Vec<D> capped(D d, hn::Vec<D> s, float softcap) {
  if (softcap == 0) return s;
  return hn::Mul(hn::Set(d, softcap), vmath::tanh(d, hn::Mul(s, hn::Set(d, 1 / softcap))));
}

// Caps and masks the scores; returns the largest, which may or may not be NaN where there is one.
float maskScores(float* scores, int64_t count, float softcap, const RowMask& mask) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint8_t, decltype(d)> db;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint8_t* selected = reinterpret_cast<const uint8_t*>(mask.selected);
  auto largest = hn::Set(d, kNothing);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto s = capped(d, hn::LoadU(d, scores + i), softcap);
    if (mask.added) s = hn::Add(s, hn::LoadU(d, mask.added + i));
    if (selected)
      s = hn::IfThenElse(chosen(d, hn::LoadU(db, selected + i)), s, hn::Set(d, kNothing));
    hn::StoreU(s, d, scores + i);
    largest = hn::Max(largest, s);
  }
  if (const size_t rest = static_cast<size_t>(count - i)) {
    auto s = capped(d, loadFirst(d, scores + i, rest), softcap);
    if (mask.added) s = hn::Add(s, loadFirst(d, mask.added + i, rest));
    if (selected)
      s = hn::IfThenElse(chosen(d, loadFirst(db, selected + i, rest)), s, hn::Set(d, kNothing));
    storeFirst(s, d, scores + i, rest);
    largest = hn::Max(largest, loadFirst(d, scores + i, rest, kNothing));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

// No weights, unless there is NaN among the scores.
float weighNothing(float* scores, int64_t count) {
  std::replace(scores, scores + count, kNothing, 0.0f);
  return std::accumulate(scores, scores + count, 0.0f);
}

float weigh(float* scores, int64_t count, float softcap, const RowMask& mask) {
  const float largest = maskScores(scores, count, softcap, mask);
  if (largest == kNothing) return weighNothing(scores, count);
  return sumOfExponentials(scores, largest, scores, static_cast<size_t>(count));
}

void multiplyRow(float* row, int64_t count, float factor) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto f = hn::Set(d, factor);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + i), f), d, row + i);
  for (; i < count; ++i) row[i] *= factor;
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(weigh);
HWY_EXPORT(multiplyRow);

float attention::weighRow(float* scores, int64_t count, float softcap, const RowMask& mask) {
  return HWY_DYNAMIC_DISPATCH(weigh)(scores, count, softcap, mask);
}

void attention::scaleRow(float* row, int64_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(multiplyRow)(row, count, factor);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
