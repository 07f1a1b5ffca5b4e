#include "backends/cpu/sample/interpolate.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sample/interpolate.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::sample::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, ...
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// A sample that does not count is left out, so that an infinity in it does no harm.
HWY_INLINE VF32 between(VF32 a, VF32 b, VF32 weight, float plainWeight) {
  if (plainWeight == 0) return a;
  if (plainWeight == 1) return b;
  return hn::MulAdd(weight, hn::Sub(b, a), a);
}

void corners(const float* topLeft, const float* topRight, const float* bottomLeft,
             const float* bottomRight, float right, float bottom, float* y, int64_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(count);
  const VF32 toRight = hn::Set(d, right), toBottom = hn::Set(d, bottom);
  size_t i = 0;
  for (; i + lanes <= total; i += lanes) {
    const VF32 top = between(hn::LoadU(d, topLeft + i), hn::LoadU(d, topRight + i), toRight, right);
    const VF32 low =
        between(hn::LoadU(d, bottomLeft + i), hn::LoadU(d, bottomRight + i), toRight, right);
    hn::StoreU(between(top, low, toBottom, bottom), d, y + i);
  }
  if (i == total) return;
  const size_t n = total - i;
  const VF32 top =
      between(loadFirst(d, topLeft + i, n), loadFirst(d, topRight + i, n), toRight, right);
  const VF32 low =
      between(loadFirst(d, bottomLeft + i, n), loadFirst(d, bottomRight + i, n), toRight, right);
  storeFirst(between(top, low, toBottom, bottom), d, y + i, n);
}

}  // namespace camshaft::cpu::sample::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::sample {

HWY_EXPORT(corners);

void blendCorners(const float* topLeft, const float* topRight, const float* bottomLeft,
                  const float* bottomRight, float right, float bottom, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(corners)
  (topLeft, topRight, bottomLeft, bottomRight, right, bottom, y, count);
}

}  // namespace camshaft::cpu::sample
#endif  // HWY_ONCE
