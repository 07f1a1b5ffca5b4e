#include "backends/cpu/softmax/rows.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax/rows.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/exponentials-inl.h"
#include "backends/cpu/simd/vmath-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::softmax::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // vmath, loadFirst, ...

using F32 = hn::ScalableTag<float>;

HWY_INLINE float largest(const float* x, size_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const float lowest = -std::numeric_limits<float>::infinity();
  auto most0 = hn::Set(d, lowest), most1 = most0;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    most0 = hn::Max(most0, hn::LoadU(d, x + i));
    most1 = hn::Max(most1, hn::LoadU(d, x + i + lanes));
  }
  for (; i + lanes <= count; i += lanes) most0 = hn::Max(most0, hn::LoadU(d, x + i));
  if (i < count) most1 = hn::Max(most1, loadFirst(d, x + i, count - i, lowest));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(most0, most1)));
}

void row(const float* x, float* y, int64_t length, bool logarithm) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), count = static_cast<size_t>(length);
  const float shift = largest(x, count);
  const float sum = sumOfExponentials(x, shift, logarithm ? nullptr : y, count);
  size_t i = 0;
  if (logarithm) {
    const auto by = hn::Set(d, shift), rest = hn::Set(d, std::log(sum));
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, x + i), by), rest), d, y + i);
    if (i < count)
      storeFirst(hn::Sub(hn::Sub(loadFirst(d, x + i, count - i), by), rest), d, y + i, count - i);
  } else {
    const auto scale = hn::Set(d, 1.0f / sum);
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, y + i), scale), d, y + i);
    if (i < count) storeFirst(hn::Mul(loadFirst(d, y + i, count - i), scale), d, y + i, count - i);
  }
}

// Whole vectors of columns; `n` of the lanes are in use.
HWY_INLINE void columnVector(const float* x, float* y, int64_t size, int64_t stride, size_t n,
                             bool logarithm) {
  const F32 d;
  const bool whole = n == hn::Lanes(d);
  auto most = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < size; ++i)
    most = hn::Max(most, whole ? hn::LoadU(d, x + i * stride) : loadFirst(d, x + i * stride, n));
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < size; ++i) {
    const auto from = whole ? hn::LoadU(d, x + i * stride) : loadFirst(d, x + i * stride, n);
    const auto shifted = hn::Sub(from, most);
    const auto e = vmath::expOfNegative(d, shifted);
    sum = hn::Add(sum, e);
    const auto kept = logarithm ? shifted : e;
    if (whole)
      hn::StoreU(kept, d, y + i * stride);
    else
      storeFirst(kept, d, y + i * stride, n);
  }
  const auto scale = hn::Div(hn::Set(d, 1.0f), sum);
  const auto rest = vmath::log(d, sum);
  for (int64_t i = 0; i < size; ++i) {
    const auto kept = whole ? hn::LoadU(d, y + i * stride) : loadFirst(d, y + i * stride, n);
    const auto result = logarithm ? hn::Sub(kept, rest) : hn::Mul(kept, scale);
    if (whole)
      hn::StoreU(result, d, y + i * stride);
    else
      storeFirst(result, d, y + i * stride, n);
  }
}

void columns(const float* x, float* y, int64_t size, int64_t stride, int64_t count,
             bool logarithm) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F32()));
  for (int64_t c = 0; c < count; c += lanes)
    columnVector(x + c, y + c, size, stride,
                 static_cast<size_t>(c + lanes <= count ? lanes : count - c), logarithm);
}

}  // namespace camshaft::cpu::softmax::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::softmax {

HWY_EXPORT(row);
HWY_EXPORT(columns);

void softmaxRow(const float* x, float* y, int64_t count, bool logarithm) {
  HWY_DYNAMIC_DISPATCH(row)(x, y, count, logarithm);
}

void softmaxColumns(const float* x, float* y, int64_t size, int64_t stride, int64_t count,
                    bool logarithm) {
  HWY_DYNAMIC_DISPATCH(columns)(x, y, size, stride, count, logarithm);
}

}  // namespace camshaft::cpu::softmax
#endif  // HWY_ONCE
