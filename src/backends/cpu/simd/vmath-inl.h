// Vectorised f32 exp, log, tanh, sigmoid, SiLU and erf for code inside HWY_NAMESPACE:
//
//   y = vmath::exp(d, x);  // in namespace camshaft::cpu::HWY_NAMESPACE
//
// Errors against the exact value: exp and log 2 ulp, tanh and sigmoid 4 ulp, SiLU the same down to
// -87 and 1e-35 absolute below, erf 3e-7 absolute (4e-7 where the CPU has no fused multiply-add).
// NaN stays NaN, infinities and denormals behave as in <cmath>. Polynomials interpolate at
// Chebyshev nodes of the interval named beside them.
//
// For results that are rounded to bf16, by 2e-3 at most, there are shorter ones (rough::): SiLU
// with a relative error of 2e-4 and GELU with 4e-4, down to -87 and -8, below which they stay.

#include "backends/cpu/simd/targets.h"
#include "hwy/highway.h"

#if defined(CAMSHAFT_CPU_VMATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMSHAFT_CPU_VMATH_INL_H_
#undef CAMSHAFT_CPU_VMATH_INL_H_
#else
#define CAMSHAFT_CPU_VMATH_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE::vmath {

namespace hn = hwy::HWY_NAMESPACE;

// c0 + c1 x + c2 x^2 + ...
template <class D, class V>
HWY_INLINE V horner(D d, V, float c) {
  return hn::Set(d, c);
}
template <class D, class V, class... Rest>
HWY_INLINE V horner(D d, V x, float c, Rest... rest) {
  return hn::MulAdd(horner(d, x, rest...), x, hn::Set(d, c));
}

template <class D, class V>
HWY_INLINE V keepNan(D, V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// 2^n for integral n in [-126, 127].
template <class D, class VI>
HWY_INLINE hn::Vec<D> powerOfTwo(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// y 2^n for integral n in [-152, 130] where the CPU has an instruction for it, which AVX-512 has.
#define CAMSHAFT_SCALES_BY_EXPONENT (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
#if CAMSHAFT_SCALES_BY_EXPONENT
template <class V>
HWY_INLINE V timesPowerOfTwo(V y, V n) {
  V out;
  asm("vscalefps %2, %1, %0" : "=v"(out.raw) : "v"(y.raw), "v"(n.raw));
  return out;
}
#endif

// 1 / x for x in [1, 2^126]. AVX-512 divides a vector in 16 cycles, and finds 14 bits of this in 2.
template <class D, class V>
HWY_INLINE V reciprocal(D d, V x) {
#if CAMSHAFT_SCALES_BY_EXPONENT
  const V guess = hn::ApproximateReciprocal(x);
  return hn::MulAdd(guess, hn::NegMulAdd(x, guess, hn::Set(d, 1.0f)), guess);
#else
  return hn::Div(hn::Set(d, 1.0f), x);
#endif
}

// x = n ln2 + r with |r| <= ln2/2; returns e^r - 1 and sets n. ln2 is split so that n * ln2High is
// exact also without fused multiply-add.
template <class D, class V>
HWY_INLINE V expm1Reduced(D d, V x, V& n) {
  n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  const V p = horner(d, r, 0.5f, 0.16666576981f, 0.04166655461f, 0.00836318046f, 0.00139261853f);
  return hn::MulAdd(hn::Mul(r, r), p, r);
}

template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  // Outside these bounds the result is 0 or infinity whatever x is.
  const V bounded = hn::Min(hn::Max(x, hn::Set(d, -105.0f)), hn::Set(d, 90.0f));
  V n;
  const V y = hn::Add(expm1Reduced(d, bounded, n), hn::Set(d, 1.0f));
#if CAMSHAFT_SCALES_BY_EXPONENT
  return keepNan(d, x, timesPowerOfTwo(y, n));
#else
  // Two factors, because 2^n itself may be beyond f32 where the result is not.
  const auto whole = hn::ConvertTo(hn::RebindToSigned<D>(), n);
  const auto half = hn::ShiftRight<1>(whole);
  const V scaled = hn::Mul(hn::Mul(y, powerOfTwo(d, half)), powerOfTwo(d, hn::Sub(whole, half)));
  return keepNan(d, x, scaled);
#endif
}

// e^x for x <= 0, with 0 for what is below f32's normal numbers, where exp takes some 150 cycles a
// vector on x86: masks put most of softmax there. NaN stays NaN.
template <class D, class V>
HWY_INLINE V expOfNegative(D d, V x) {
  const V lowest = hn::Set(d, -87.0f);
  const auto vanishes = hn::Lt(x, lowest);
  V n;
  const V bounded = hn::IfThenElse(vanishes, lowest, x);
  const V y = hn::Add(expm1Reduced(d, bounded, n), hn::Set(d, 1.0f));
#if CAMSHAFT_SCALES_BY_EXPONENT
  const V e = timesPowerOfTwo(y, n);
#else
  const V e = hn::Mul(y, powerOfTwo(d, hn::ConvertTo(hn::RebindToSigned<D>(), n)));
#endif
  return hn::IfThenZeroElse(vanishes, e);
}

template <class D, class V>
HWY_INLINE V log(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto isTiny = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  const V normal = hn::IfThenElse(isTiny, hn::Mul(x, hn::Set(d, 33554432.0f)), x);

  // normal = 2^k m with m in [sqrt(1/2), sqrt(2)).
  const auto bits = hn::BitCast(di, normal);
  const auto aboveRootHalf = hn::Sub(bits, hn::Set(di, 0x3f3504f3));
  const auto exponent = hn::ShiftRight<23>(aboveRootHalf);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V k = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(isTiny, hn::Set(d, 25.0f)));

  // log(1+f) = f - (f^2/2 - s (f^2/2 + R)), s = f/(2+f), R = 2 atanh(s)/s - 2.
  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  const V s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0f)));
  const V z = hn::Mul(s, s);
  const V r =
      hn::Mul(z, horner(d, z, 0.66666666554f, 0.40000122212f, 0.28550778631f, 0.23331614510f));
  const V halfSquare = hn::Mul(hn::Mul(f, f), hn::Set(d, 0.5f));
  V y = hn::MulAdd(s, hn::Add(halfSquare, r), hn::Mul(k, hn::Set(d, -2.12194440e-4f)));
  y = hn::Sub(f, hn::Sub(halfSquare, y));
  y = hn::MulAdd(k, hn::Set(d, 0.693359375f), y);

  const V infinity = hn::Inf(d);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), keepNan(d, x, y));
}

// t / (t + 2) with t = e^(2|x|) - 1, which loses nothing near zero.
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  const V magnitude = hn::Min(hn::Abs(x), hn::Set(d, 9.25f));
  V n;
  const V p = expm1Reduced(d, hn::Add(magnitude, magnitude), n);
  const V scale = powerOfTwo(d, hn::ConvertTo(hn::RebindToSigned<D>(), n));
  const V t = hn::MulAdd(scale, p, hn::Sub(scale, hn::Set(d, 1.0f)));
  return keepNan(d, x, hn::CopySign(hn::Div(t, hn::Add(t, hn::Set(d, 2.0f))), x));
}

template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = exp(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
#if CAMSHAFT_SCALES_BY_EXPONENT
  return hn::Mul(numerator, reciprocal(d, hn::Add(e, one)));
#else
  return hn::Div(numerator, hn::Add(e, one));
#endif
}

// x / (1 + e^-x), where e^-x stays in the range of normal numbers. Below that it is what it is at
// its end.
template <class D, class V>
HWY_INLINE V silu(D d, V x) {
  const V one = hn::Set(d, 1.0f), lowest = hn::Set(d, -87.0f);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  x = hn::Max(lowest, x);  // x86's maximum passes on a NaN that is its second operand
#else
  x = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);
#endif
  const V bounded = hn::Min(x, hn::Set(d, 87.0f));
  const V n = hn::Round(hn::Mul(bounded, hn::Set(d, -1.44269504f)));
  V r = hn::MulAdd(n, hn::Set(d, 0.693359375f), bounded);
  r = hn::MulAdd(n, hn::Set(d, -2.12194440e-4f), r);  // e^-x = 2^n e^-r
  const V y = horner(d, r, 1.0f, -1.0f, 0.5f, -0.16666576981f, 0.04166655461f, -0.00836318046f,
                     0.00139261853f);
#if CAMSHAFT_SCALES_BY_EXPONENT
  return hn::Mul(x, reciprocal(d, hn::Add(timesPowerOfTwo(y, n), one)));
#else
  const V power = powerOfTwo(d, hn::ConvertTo(hn::RebindToSigned<D>(), n));
  return hn::Div(x, hn::MulAdd(y, power, one));
#endif
}

// x P(x^2) / Q(x^2) on |x| <= 3.92, beyond which erf is 1 in f32.
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  const V bound = hn::Set(d, 3.92f);
  const V c = hn::Max(hn::Min(x, bound), hn::Neg(bound));
  const V z = hn::Mul(c, c);
  const V p = horner(d, z, 1.128379167095f, 0.183204468064f, 0.051769704052f, 3.459745794e-3f,
                     2.784828207e-4f, 2.105530409e-6f);
  const V q = horner(d, z, 1.0f, 0.495694064225f, 0.111111121014f, 1.434289692675e-2f,
                     1.090057791332e-3f, 3.834435532e-5f);
  const V one = hn::Set(d, 1.0f);
  const V y = hn::Max(hn::Min(hn::Div(hn::Mul(c, p), q), one), hn::Neg(one));
  return keepNan(d, x, y);
}

namespace rough {

// 2^x for x in [-126, 126], with a relative error of 8e-5.
template <class D, class V>
HWY_INLINE V exp2(D d, V x) {
#if CAMSHAFT_SCALES_BY_EXPONENT
  V fraction;
  asm("vreduceps $1, %1, %0" : "=v"(fraction.raw) : "v"(x.raw));
  return timesPowerOfTwo(horner(d, fraction, 0.9999252f, 0.6958335f, 0.2260672f, 0.07802452f), x);
#else
  const V n = hn::Floor(x);
  const V y = horner(d, hn::Sub(x, n), 0.9999252f, 0.6958335f, 0.2260672f, 0.07802452f);
  return hn::Mul(y, powerOfTwo(d, hn::ConvertTo(hn::RebindToSigned<D>(), n)));
#endif
}

template <class D, class V>
HWY_INLINE V silu(D d, V x) {
#if CAMSHAFT_SCALES_BY_EXPONENT
  x = hn::Max(hn::Set(d, -87.0f), x);  // passes a NaN on
  const V power = hn::Mul(hn::Min(x, hn::Set(d, 87.0f)), hn::Set(d, -1.44269504f));
  return hn::Mul(x, hn::ApproximateReciprocal(hn::Add(exp2(d, power), hn::Set(d, 1.0f))));
#else
  return vmath::silu(d, x);
#endif
}

// max(x, 0) - |x| P(-|x|), where P is the normal distribution and its logarithm a polynomial of
// degree 6 on [0, 8].
template <class D, class V>
HWY_INLINE V gelu(D d, V x) {
  const V size = hn::Min(hn::Abs(x), hn::Set(d, 8.0f));
  const V power = horner(d, size, -1.00033057f, -1.14700496f, -0.467330307f, -0.046997156f,
                         0.005897745f, -0.000426783343f, 1.32077948e-5f);
  const V bounded = hn::Max(power, hn::Set(d, -126.0f));  // also where x is NaN
  return hn::NegMulAdd(size, exp2(d, bounded),
                       hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x));
}

}  // namespace rough

}  // namespace camshaft::cpu::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
