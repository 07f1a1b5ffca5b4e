#include "backends/cpu/attention/masked_softmax.h"

#include <algorithm>
#include <limits>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/attention/masked_softmax.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/gemm/tile16.h"
#include "backends/cpu/simd/bf16-inl.h"
#include "backends/cpu/simd/exponentials-inl.h"
#include "backends/cpu/simd/vmath-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

using attention::ScoreRule;

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// Lanes whose byte is set.
template <class D, class VB>
HWY_INLINE hn::Mask<D> chosen(D d, VB bytes) {
  const hn::RebindToSigned<D> di;
  return hn::RebindMask(d, hn::Ne(hn::PromoteTo(di, bytes), hn::Zero(di)));
}

template <class D>
HWY_INLINE hn::Vec<D> scaled(D d, hn::Vec<D> s, const ScoreRule& rule) {
  s = hn::Mul(s, hn::Set(d, rule.scale));
  if (rule.softcap == 0) return s;
  const auto cap = hn::Set(d, rule.softcap);
  return hn::Mul(cap, vmath::tanh(d, hn::Mul(s, hn::Set(d, 1 / rule.softcap))));
}

// Scales, caps and masks the scores; returns the largest, which may or may not be NaN where there
// is one.
float applyRule(float* scores, int64_t count, const ScoreRule& rule) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint8_t, decltype(d)> db;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* added = rule.mask.added;
  const auto* selected = reinterpret_cast<const uint8_t*>(rule.mask.selected);
  auto largest = hn::Set(d, kNothing);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto s = scaled(d, hn::LoadU(d, scores + i), rule);
    if (added) s = hn::Add(s, hn::LoadU(d, added + i));
    if (selected)
      s = hn::IfThenElse(chosen(d, hn::LoadU(db, selected + i)), s, hn::Set(d, kNothing));
    hn::StoreU(s, d, scores + i);
    largest = hn::Max(largest, s);
  }
  if (const size_t rest = static_cast<size_t>(count - i)) {
    auto s = scaled(d, loadFirst(d, scores + i, rest), rule);
    if (added) s = hn::Add(s, loadFirst(d, added + i, rest));
    if (selected)
      s = hn::IfThenElse(chosen(d, loadFirst(db, selected + i, rest)), s, hn::Set(d, kNothing));
    storeFirst(s, d, scores + i, rest);
    largest = hn::Max(largest, loadFirst(d, scores + i, rest, kNothing));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

float largestOf(const float* scores, int64_t count) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto largest = hn::Set(d, kNothing);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) largest = hn::Max(largest, hn::LoadU(d, scores + i));
  if (const size_t rest = static_cast<size_t>(count - i))
    largest = hn::Max(largest, loadFirst(d, scores + i, rest, kNothing));
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

// No weights, unless there is NaN among the scores.
float weighNothing(float* scores, int64_t count) {
  std::replace(scores, scores + count, kNothing, 0.0f);
  return std::accumulate(scores, scores + count, 0.0f);
}

float weigh(float* scores, int64_t count, const ScoreRule& rule) {
  const float largest = applyRule(scores, count, rule);
  if (largest == kNothing) return weighNothing(scores, count);
  return sumOfExponentials(scores, largest, scores, static_cast<size_t>(count));
}

// Where element i of a panel's row lies.
HWY_INLINE BFloat16* inPanel(uint16_t* row, int64_t i) {
  return reinterpret_cast<BFloat16*>(row + i / kDepth16 * kStepHalves16 + i % kDepth16);
}

// 2^(factor * x - shift) of vectors in turn.
template <int kVectors, class D>
HWY_INLINE void powers(D d, const float* x, hn::Vec<D> factor, hn::Vec<D> shift,
                       hn::Vec<D> (&e)[kVectors]) {
  const auto lowest = hn::Set(d, -126.0f);
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i)
    e[i] = hn::MulSub(hn::LoadU(d, x + i * hn::Lanes(d)), factor, shift);
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) {
    const auto vanishes = hn::Lt(e[i], lowest);
    e[i] = hn::IfThenZeroElse(vanishes, vmath::rough::exp2(d, hn::Max(lowest, e[i])));
  }
}

// The row's weights, base 2: 2^(factor * score - shift), and zeros up to so many steps.
template <bool kByUnit>
float writePowers(const float* scores, int64_t count, float factor, float shift, uint16_t* row,
                  int64_t steps) {
  constexpr int kVectors = 4;
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), end = steps * kDepth16;
  const auto by = hn::Set(d, factor), less = hn::Set(d, shift);
  const auto store = [&](hn::Vec<decltype(d)> e, int64_t i) {
    if constexpr (kByUnit)
      storeByUnit(e, d, inPanel(row, i));
    else
      storeF32(e, d, inPanel(row, i));
  };
  auto sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes) {
    hn::Vec<decltype(d)> e[kVectors];
    powers(d, scores + i, by, less, e);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum = hn::Add(sum, e[v]);
      store(e[v], i + v * lanes);
    }
  }
  for (; i < end; i += lanes) {
    hn::Vec<decltype(d)> e[1] = {hn::Zero(d)};
    if (i < count) {
      powers(d, scores + i, by, less, e);
      if (count - i < lanes)
        e[0] = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count - i)), e[0]);
      sum = hn::Add(sum, e[0]);
    }
    store(e[0], i);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

float weighIntoPanel(float* scores, int64_t count, const ScoreRule& rule, uint16_t* row,
                     int64_t steps) {
  constexpr float kLog2OfE = 1.44269504f;
  const bool isPlain =
      rule.softcap == 0 && !rule.mask.added && !rule.mask.selected && rule.scale > 0;
  const float largest = isPlain ? largestOf(scores, count) : applyRule(scores, count, rule);
  if (largest == kNothing) {
    const float sum = weighNothing(scores, count);
    for (int64_t i = 0; i < steps * kDepth16; ++i)
      *inPanel(row, i) = BFloat16(i < count ? scores[i] : 0);
    return sum;
  }
  const float factor = isPlain ? rule.scale * kLog2OfE : kLog2OfE;
  const auto write = mayNarrowByUnit() ? writePowers<true> : writePowers<false>;
  return write(scores, count, factor, largest * factor, row, steps);
}

template <class T>
HWY_INLINE void multiplyRowInto(const float* row, int64_t count, float factor, T* to) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto f = hn::Set(d, factor);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) storeF32(hn::Mul(hn::LoadU(d, row + i), f), d, to + i);
  if (const size_t rest = static_cast<size_t>(count - i))
    storeFirstF32(hn::Mul(loadFirst(d, row + i, rest), f), d, to + i, rest);
}
void multiplyRow(const float* row, int64_t count, float factor, float* to) {
  multiplyRowInto(row, count, factor, to);
}
void multiplyRow16(const float* row, int64_t count, float factor, BFloat16* to) {
  multiplyRowInto(row, count, factor, to);
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(weigh);
HWY_EXPORT(weighIntoPanel);
HWY_EXPORT(multiplyRow);
HWY_EXPORT(multiplyRow16);

float attention::weighRow(float* scores, int64_t count, const ScoreRule& rule) {
  return HWY_DYNAMIC_DISPATCH(weigh)(scores, count, rule);
}

float attention::weighRow(float* scores, int64_t count, const ScoreRule& rule, uint16_t* panelRow,
                          int64_t steps) {
  return HWY_DYNAMIC_DISPATCH(weighIntoPanel)(scores, count, rule, panelRow, steps);
}

void attention::scaleRow(const float* row, int64_t count, float factor, float* to) {
  HWY_DYNAMIC_DISPATCH(multiplyRow)(row, count, factor, to);
}

void attention::scaleRow(const float* row, int64_t count, float factor, BFloat16* to) {
  HWY_DYNAMIC_DISPATCH(multiplyRow16)(row, count, factor, to);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
