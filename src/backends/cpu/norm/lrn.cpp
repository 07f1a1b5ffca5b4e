#include "backends/cpu/norm/lrn.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/lrn.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"
#include "backends/cpu/simd/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::norm::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, vmath, ...
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// Roots do for the exponents that networks have.
HWY_INLINE VF32 power(F32 d, VF32 x, float exponent) {
  if (exponent == 1) return x;
  if (exponent == 0.5f) return hn::Sqrt(x);
  if (exponent == 0.75f) return hn::Mul(hn::Sqrt(x), hn::Sqrt(hn::Sqrt(x)));
  return vmath::exp(d, hn::Mul(hn::Set(d, exponent), vmath::log(d, x)));
}

void row(const float* x, float* y, int64_t count, int64_t stride, int64_t first, int64_t last,
         float bias, float alpha, float beta) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(count);
  const VF32 shift = hn::Set(d, bias), factor = hn::Set(d, alpha);
  // `load` gives the elements at a place, all of a vector or the last ones.
  const auto normalised = [&](const float* at, auto load) HWY_ATTR {
    VF32 squares = hn::Zero(d);
    for (int64_t r = first; r <= last; ++r) {
      const VF32 neighbour = load(at + r * stride);
      squares = hn::MulAdd(neighbour, neighbour, squares);
    }
    return hn::Div(load(at), power(d, hn::MulAdd(factor, squares, shift), beta));
  };
  size_t i = 0;
  for (; i + lanes <= total; i += lanes)
    hn::StoreU(normalised(x + i, [&](const float* at) HWY_ATTR { return hn::LoadU(d, at); }), d,
               y + i);
  if (i == total) return;
  const size_t n = total - i;
  storeFirst(normalised(x + i, [&](const float* at) HWY_ATTR { return loadFirst(d, at, n); }), d,
             y + i, n);
}

}  // namespace camshaft::cpu::norm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::norm {

HWY_EXPORT(row);

void lrnRow(const float* x, float* y, int64_t count, int64_t stride, int64_t first, int64_t last,
            float bias, float alpha, float beta) {
  HWY_DYNAMIC_DISPATCH(row)(x, y, count, stride, first, last, bias, alpha, beta);
}

}  // namespace camshaft::cpu::norm
#endif  // HWY_ONCE
