// Vectors of f32 from and to memory that holds f32 or bf16, for code inside HWY_NAMESPACE.

#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/vector-inl.h"
#include "support/half.h"

#if defined(CAMSHAFT_CPU_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMSHAFT_CPU_BF16_INL_H_
#undef CAMSHAFT_CPU_BF16_INL_H_
#else
#define CAMSHAFT_CPU_BF16_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> widened(D d, hn::Vec<hn::Rebind<uint16_t, D>> halves) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<D>(), halves)));
}

// Rounded to nearest, ties to even, as BFloat16 does.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrowed(D, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> integers;
  const auto all = hn::BitCast(bits, v);
  const auto high = hn::ShiftRight<16>(all);
  const auto isOdd = hn::And(high, hn::Set(bits, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(all, hn::Add(isOdd, hn::Set(bits, 0x7fff))));
  const auto quiet = hn::Or(high, hn::Set(bits, 0x40));
  const auto chosen = hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(v)), quiet, rounded);
  return hn::DemoteTo(hn::Rebind<uint16_t, D>(), hn::BitCast(integers, chosen));
}

// The same by an instruction where vectors are AVX-512's, for CPUs where mayNarrowByUnit().
inline bool mayNarrowByUnit() {
  constexpr bool kWantsUnit = HWY_ARCH_X86 && hn::MaxLanes(hn::ScalableTag<float>()) == 16;
  return !kWantsUnit || hasAvx512Bf16();
}
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrowedByUnit(D d, hn::Vec<D> v) {
#if HWY_ARCH_X86
  if constexpr (hn::MaxLanes(D()) == 16) {
    hn::Vec<hn::Rebind<uint16_t, D>> out;
    asm("vcvtneps2bf16 %1, %0" : "=v"(out.raw) : "v"(v.raw));
    return out;
  }
#endif
  return narrowed(d, v);
}

template <class D>
HWY_INLINE hn::Vec<D> loadF32(D d, const float* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> loadF32(D d, const BFloat16* p) {
  const hn::Rebind<uint16_t, D> halves;
  return widened(d, hn::LoadU(halves, reinterpret_cast<const uint16_t*>(p)));
}

// Two vectors that lie side by side.
template <class D>
HWY_INLINE void loadTwoF32(D d, const float* p, hn::Vec<D>& first, hn::Vec<D>& second) {
  first = hn::LoadU(d, p);
  second = hn::LoadU(d, p + hn::MaxLanes(D()));
}
template <class D>
HWY_INLINE void loadTwoF32(D d, const BFloat16* p, hn::Vec<D>& first, hn::Vec<D>& second) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {  // one step each: halves move up, and leave zeros
    alignas(64) static constexpr uint16_t kPlaces[64] = {
        0, 0,  0, 1,  0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,  0, 8,  0, 9,  0, 10,
        0, 11, 0, 12, 0, 13, 0, 14, 0, 15, 0, 16, 0, 17, 0, 18, 0, 19, 0, 20, 0, 21,
        0, 22, 0, 23, 0, 24, 0, 25, 0, 26, 0, 27, 0, 28, 0, 29, 0, 30, 0, 31};
    constexpr __mmask32 kUpper = 0xaaaaaaaa;
    const __m512i halves = _mm512_loadu_si512(p);
    first.raw = _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(kUpper, _mm512_load_si512(kPlaces), halves));
    second.raw = _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(kUpper, _mm512_load_si512(kPlaces + 32), halves));
    return;
  }
#endif
#if HWY_ARCH_ARM
  if constexpr (hn::MaxLanes(D()) == 4) {
    const hn::Repartition<uint16_t, D> all;
    const auto halves = hn::LoadU(all, reinterpret_cast<const uint16_t*>(p));
    first = hn::BitCast(d, hn::InterleaveLower(all, hn::Zero(all), halves));
    second = hn::BitCast(d, hn::InterleaveUpper(all, hn::Zero(all), halves));
    return;
  }
#endif
  first = loadF32(d, p);
  second = loadF32(d, p + hn::MaxLanes(D()));
}

template <class D>
HWY_INLINE void storeF32(hn::Vec<D> v, D d, float* p) {
  hn::StoreU(v, d, p);
}
template <class D>
HWY_INLINE void storeF32(hn::Vec<D> v, D d, BFloat16* p) {
  hn::StoreU(narrowed(d, v), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(p));
}

// The same where mayNarrowByUnit().
template <class D>
HWY_INLINE void storeByUnit(hn::Vec<D> v, D d, float* p) {
  hn::StoreU(v, d, p);
}
template <class D>
HWY_INLINE void storeByUnit(hn::Vec<D> v, D d, BFloat16* p) {
  hn::StoreU(narrowedByUnit(d, v), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(p));
}

// The first n elements alone; the other lanes are zero.
template <class D>
HWY_INLINE hn::Vec<D> loadFirstF32(D d, const float* p, size_t n) {
  return loadFirst(d, p, n);
}
template <class D>
HWY_INLINE hn::Vec<D> loadFirstF32(D d, const BFloat16* p, size_t n) {
  const hn::Rebind<uint16_t, D> halves;
  return widened(d, loadFirst(halves, reinterpret_cast<const uint16_t*>(p), n));
}

template <class D>
HWY_INLINE void storeFirstF32(hn::Vec<D> v, D d, float* p, size_t n) {
  storeFirst(v, d, p, n);
}
template <class D>
HWY_INLINE void storeFirstF32(hn::Vec<D> v, D d, BFloat16* p, size_t n) {
  storeFirst(narrowed(d, v), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(p), n);
}

// A row of f32 as bf16, or the other way.
template <bool kByUnit, class From, class To>
HWY_INLINE void convertRow(const From* from, int64_t count, To* to) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = loadF32(d, from + i);
    if constexpr (kByUnit)
      storeByUnit(v, d, to + i);
    else
      storeF32(v, d, to + i);
  }
  if (i == count) return;
  const size_t rest = static_cast<size_t>(count - i);
  storeFirstF32(loadFirstF32(d, from + i, rest), d, to + i, rest);
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
