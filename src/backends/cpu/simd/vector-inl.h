// Vectors in registers, and loads and stores of their first lanes, for the ends of rows; inside
// HWY_NAMESPACE.

#include <cstddef>
#include <cstring>

#include "backends/cpu/simd/targets.h"
#include "hwy/highway.h"

#if defined(CAMSHAFT_CPU_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMSHAFT_CPU_VECTOR_INL_H_
#undef CAMSHAFT_CPU_VECTOR_INL_H_
#else
#define CAMSHAFT_CPU_VECTOR_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A vector that is used more than once: GCC would load it again in each instruction of x86 that
// uses it, and there are no more loads in a cycle than multiply-adds.
template <class V>
HWY_INLINE V inRegister(V v) {
#if HWY_ARCH_X86
  asm("" : "+v"(v.raw));
#endif
  return v;
}

// The first n elements at p, `rest` in the other lanes. Reads nothing beyond them.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> loadFirst(D d, const T* p, size_t n, T rest = T(0)) {
  alignas(64) T lanes[hn::MaxLanes(d)];
  for (size_t i = 0; i < hn::MaxLanes(d); ++i) lanes[i] = rest;
  std::memcpy(lanes, p, n * sizeof(T));
  return hn::Load(d, lanes);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void storeFirst(hn::Vec<D> v, D d, T* p, size_t n) {
  alignas(64) T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  std::memcpy(p, lanes, n * sizeof(T));
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
