// Activations over vectors, for code inside HWY_NAMESPACE.

#include "backends/cpu/gemm/epilogue.h"
#include "backends/cpu/simd/vmath-inl.h"

#if defined(CAMSHAFT_CPU_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMSHAFT_CPU_ACTIVATION_INL_H_
#undef CAMSHAFT_CPU_ACTIVATION_INL_H_
#else
#define CAMSHAFT_CPU_ACTIVATION_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#define CAMSHAFT_HAS_VECTORS (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

#if HWY_ARCH_ARM_A64 && CAMSHAFT_HAS_VECTORS
HWY_INLINE float32x2_t clampRaw(float32x2_t low, float32x2_t high, float32x2_t x) {
  return vmin_f32(vmax_f32(x, low), high);
}
HWY_INLINE float32x4_t clampRaw(float32x4_t low, float32x4_t high, float32x4_t x) {
  return vminq_f32(vmaxq_f32(x, low), high);
}
#endif

// Passes NaN on, as x86's minimum and maximum do with their second operand and Arm's with either;
// Highway's may prefer the number.
template <class V>
HWY_INLINE V clamp(V low, V high, V x) {
#if HWY_ARCH_X86 && CAMSHAFT_HAS_VECTORS
  return hn::Min(high, hn::Max(low, x));
#elif HWY_ARCH_ARM_A64 && CAMSHAFT_HAS_VECTORS
  return V(clampRaw(low.raw, high.raw, x.raw));
#else
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Min(hn::Max(x, low), high));
#endif
}

#undef CAMSHAFT_HAS_VECTORS

// kIsRough where the result is rounded to bf16.
template <Activation kActivation, bool kIsRough, class D, class V>
HWY_INLINE V activate(D d, V x) {
  if constexpr (kIsRough && kActivation == Activation::kSilu) return vmath::rough::silu(d, x);
  if constexpr (kIsRough && kActivation == Activation::kGelu) return vmath::rough::gelu(d, x);
  const V half = hn::Set(d, 0.5f), one = hn::Set(d, 1.0f);
  if constexpr (kActivation == Activation::kSigmoid) return vmath::sigmoid(d, x);
  if constexpr (kActivation == Activation::kSilu) return vmath::silu(d, x);
  if constexpr (kActivation == Activation::kTanh) return vmath::tanh(d, x);
  if constexpr (kActivation == Activation::kHardSwish) {
    const V gate = hn::MulAdd(x, hn::Set(d, 1.0f / 6.0f), half);
    return hn::Mul(x, hn::Min(hn::Max(gate, hn::Zero(d)), one));  // NaN by x
  }
  if constexpr (kActivation == Activation::kGelu) {
    const V erf = vmath::erf(d, hn::Mul(x, hn::Set(d, 0.70710678f)));
    return hn::Mul(hn::Mul(x, half), hn::Add(erf, one));
  }
  return x;
}

// All that an epilogue does to sums with their bias and residual, but for post(). kClip stands for
// every clamp, and for none.
template <Activation kActivation, bool kIsRough, class D>
class Ending {
 public:
  using V = hn::Vec<D>;
  // Whether it wants registers for much more than constants.
  static constexpr bool kIsLong =
      kActivation == Activation::kSigmoid || kActivation == Activation::kSilu ||
      kActivation == Activation::kGelu || kActivation == Activation::kTanh;

  Ending(D d, const Epilogue& epilogue)
      : low_(hn::Set(d, clampOf(epilogue).low)),
        high_(hn::Set(d, clampOf(epilogue).high)),
        scale_(hn::Set(d, epilogue.outScale)),
        shift_(hn::Set(d, epilogue.outShift)) {}

  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (kActivation == Activation::kClip)
      return hn::MulAdd(clamp(low_, high_, x), scale_, shift_);
    else
      return hn::MulAdd(activate<kActivation, kIsRough>(d, x), scale_, shift_);
  }

 private:
  V low_, high_, scale_, shift_;
};

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
