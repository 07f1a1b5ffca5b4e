// Vectors of f32 become bytes, rounded and saturated; inside HWY_NAMESPACE.

#include <cstdint>

#include "backends/cpu/simd/targets.h"
#include "hwy/highway.h"

#if defined(CAMSHAFT_CPU_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMSHAFT_CPU_NARROW_INL_H_
#undef CAMSHAFT_CPU_NARROW_INL_H_
#else
#define CAMSHAFT_CPU_NARROW_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace narrow {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

#if HWY_MAX_BYTES == 16

// Four vectors become one of bytes.
constexpr int kVectors = 4;
using Bytes = hn::Full128<uint8_t>;
using VBytes = hn::Vec<Bytes>;

HWY_INLINE VBytes saturated(const VF32* v, int32_t zero) {
  const hn::Full128<int16_t> shorts;
  const hn::Full64<uint8_t> half;
  const auto shift = hn::Set(shorts, static_cast<int16_t>(zero));
  const auto low = hn::ReorderDemote2To(shorts, hn::NearestInt(v[0]), hn::NearestInt(v[1]));
  const auto high = hn::ReorderDemote2To(shorts, hn::NearestInt(v[2]), hn::NearestInt(v[3]));
  return hn::Combine(Bytes(), hn::DemoteTo(half, hn::SaturatedAdd(high, shift)),
                     hn::DemoteTo(half, hn::SaturatedAdd(low, shift)));
}

// Sixteen bytes as f32, less a whole number of at most 1024: those of 2^23 and more have numbers as
// their last bits.
HWY_INLINE void widened(VBytes bytes, float zero, VF32 (&v)[kVectors]) {
  const F32 d;
  const hn::Full128<uint16_t> halves;
  const VF32 base = hn::Set(d, 8388608.0f + zero);
  const auto upper = hn::Set(halves, 0x4b00);  // of 2^23
  const auto low = hn::BitCast(halves, hn::InterleaveLower(Bytes(), bytes, hn::Zero(Bytes())));
  const auto high = hn::BitCast(halves, hn::InterleaveUpper(Bytes(), bytes, hn::Zero(Bytes())));
  v[0] = hn::Sub(hn::BitCast(d, hn::InterleaveLower(halves, low, upper)), base);
  v[1] = hn::Sub(hn::BitCast(d, hn::InterleaveUpper(halves, low, upper)), base);
  v[2] = hn::Sub(hn::BitCast(d, hn::InterleaveLower(halves, high, upper)), base);
  v[3] = hn::Sub(hn::BitCast(d, hn::InterleaveUpper(halves, high, upper)), base);
}

#else

constexpr int kVectors = 1;
using Bytes = hn::Rebind<uint8_t, F32>;
using VBytes = hn::Vec<Bytes>;

HWY_INLINE void widened(VBytes bytes, float zero, VF32 (&v)[kVectors]) {
  const F32 d;
  v[0] = hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<F32>(), bytes));
  v[0] = hn::Sub(v[0], hn::Set(d, zero));
}

#endif

// To whole numbers, ties to even; |v| is at most 2^22.
HWY_INLINE VF32 roundedSmall(VF32 v) {
  const VF32 shift = hn::Set(F32(), 12582912.0f);
  return hn::Sub(hn::Add(v, shift), shift);
}

constexpr int64_t kLanes = hn::MaxLanes(F32()), kColumns = kVectors * kLanes;

// Bytes of kVectors vectors within pointwise::ByteBounds. |zero| is at most 512. What is no number
// is one of these bytes too; see orZeroByte().
template <class Bounds>
HWY_INLINE VBytes bytesOf(const VF32* v, const Bounds& bounds) {
#if HWY_MAX_BYTES == 16
  const Bytes bytes;
  VBytes result = saturated(v, bounds.zero);
  if (bounds.low > 0 || bounds.high < 255) {
    result = hn::Max(result, hn::Set(bytes, static_cast<uint8_t>(bounds.low)));
    result = hn::Min(result, hn::Set(bytes, static_cast<uint8_t>(bounds.high)));
  }
  return hn::Xor(result, hn::Set(bytes, static_cast<uint8_t>(bounds.flip)));
#else
  // Bounds are whole numbers, so that it is one whether they come before rounding or after it. The
  // last byte of a sum with 1.5 * 2^23 is the rounded number's, and the flip is a sum that wraps.
  const F32 d;
  const hn::RebindToUnsigned<F32> bits;
  const VF32 inside = hn::Min(hn::Max(v[0], hn::Set(d, bounds.least)), hn::Set(d, bounds.most));
  const auto rounded = hn::BitCast(bits, hn::Add(inside, hn::Set(d, 12582912.0f)));
  const auto shift = hn::Set(bits, static_cast<uint32_t>(bounds.zero + bounds.flip));
  return hn::TruncateTo(Bytes(), hn::Add(rounded, shift));
#endif
}

// x / divisor before it is rounded to a byte, by pointwise::ByteQuotient's two parts: these stand
// for the division only where products are added without a rounding in between.
template <class Quotient>
HWY_INLINE VF32 quotient(VF32 x, const Quotient& by) {
  const F32 d;
#if HWY_NATIVE_FMA
  return hn::MulAdd(x, hn::Set(d, by.high), hn::Mul(x, hn::Set(d, by.low)));
#else
  return hn::Div(x, hn::Set(d, by.divisor));
#endif
}

// What bytesOf() makes the byte 0, as the definition does, where v is no number.
template <class Bounds>
HWY_INLINE VF32 orZeroByte(VF32 v, const Bounds& bounds) {
  return hn::IfThenElse(hn::Eq(v, v), v,
                        hn::Set(F32(), static_cast<float>(bounds.flip - bounds.zero)));
}

}  // namespace narrow

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
