// Intrinsics of one thread: bits, conversions, fast arithmetic, cached loads.
#pragma once

// Fast and explicitly rounded arithmetic: the emulator always rounds to nearest.
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

// Bits.
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((static_cast<long long>(hi) << 32) | static_cast<unsigned>(lo));
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= ((x >> bit) & 1u) << (31 - bit);
  return result;
}
inline unsigned long long __brevll(unsigned long long x) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32) |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned choice = selector >> (4 * i);
    unsigned byte = (bytes >> (8 * (choice & 7u))) & 0xFFu;
    if (choice & 8u) byte = byte & 0x80u ? 0xFFu : 0u;  // replicates the sign
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return ((static_cast<unsigned long long>(hi) << 32 | lo) << (shift & 31u)) >> 32;
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return (static_cast<unsigned long long>(hi) << 32 | lo) >> (shift & 31u);
}

// Integers.
inline int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xFFFFFFu) * (y & 0xFFFFFFu); }
inline int __mulhi(int x, int y) { return static_cast<long long>(x) * y >> 32; }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned long long>(x) * y >> 32;
}
inline long long __mul64hi(long long x, long long y) { return static_cast<__int128>(x) * y >> 64; }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned __int128>(x) * y >> 64;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) {
    c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  }
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += ((a >> (8 * i)) & 0xFFu) * ((b >> (8 * i)) & 0xFFu);
  return c;
}

// Conversions. To an integer they saturate and turn NaN into 0, as the GPU does.
namespace camshaft::emulator {
template <class Integer, class Real>
Integer saturate(Real x) {
  constexpr bool isSigned = Integer(-1) < Integer(0);
  constexpr int bits = 8 * sizeof(Integer) - isSigned;
  const Real limit = static_cast<Real>(2) * static_cast<Real>(1ull << (bits - 1));
  if (isnan(x)) return 0;
  if (x >= limit) return static_cast<Integer>(~0ull >> (64 - bits));
  if (x < (isSigned ? -limit : Real(0))) return isSigned ? Integer(1ull << bits % 64) : Integer(0);
  return static_cast<Integer>(x);
}
}  // namespace camshaft::emulator

#define CAMSHAFT_CONVERT(real, integer, type)                                                     \
  inline type __##real##2##integer##_rn(real x) {                                                 \
    return camshaft::emulator::saturate<type>(rint(x));                                           \
  }                                                                                               \
  inline type __##real##2##integer##_rz(real x) { return camshaft::emulator::saturate<type>(x); } \
  inline type __##real##2##integer##_ru(real x) {                                                 \
    return camshaft::emulator::saturate<type>(ceil(x));                                           \
  }                                                                                               \
  inline type __##real##2##integer##_rd(real x) {                                                 \
    return camshaft::emulator::saturate<type>(floor(x));                                          \
  }                                                                                               \
  inline real __##integer##2##real##_rn(type x) { return static_cast<real>(x); }
CAMSHAFT_CONVERT(float, int, int)
CAMSHAFT_CONVERT(float, uint, unsigned)
CAMSHAFT_CONVERT(float, ll, long long)
CAMSHAFT_CONVERT(float, ull, unsigned long long)
CAMSHAFT_CONVERT(double, int, int)
CAMSHAFT_CONVERT(double, uint, unsigned)
CAMSHAFT_CONVERT(double, ll, long long)
CAMSHAFT_CONVERT(double, ull, unsigned long long)
#undef CAMSHAFT_CONVERT
inline float __double2float_rn(double x) { return static_cast<float>(x); }

// Cache hints are plain loads and stores.
#define CAMSHAFT_LOAD(name)  \
  template <class T>         \
  T name(const T* address) { \
    return *address;         \
  }
CAMSHAFT_LOAD(__ldg)
CAMSHAFT_LOAD(__ldca)
CAMSHAFT_LOAD(__ldcg)
CAMSHAFT_LOAD(__ldcs)
CAMSHAFT_LOAD(__ldlu)
CAMSHAFT_LOAD(__ldcv)
#undef CAMSHAFT_LOAD
namespace camshaft::emulator {
template <class T>
struct Same {
  using Type = T;
};
}  // namespace camshaft::emulator
#define CAMSHAFT_STORE(name)                                                \
  template <class T>                                                        \
  void name(T* address, typename camshaft::emulator::Same<T>::Type value) { \
    *address = value;                                                       \
  }
CAMSHAFT_STORE(__stwb)
CAMSHAFT_STORE(__stcg)
CAMSHAFT_STORE(__stcs)
CAMSHAFT_STORE(__stwt)
#undef CAMSHAFT_STORE

inline size_t __cvta_generic_to_shared(const void* address) {
  return reinterpret_cast<size_t>(address);
}
inline size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<size_t>(address);
}

inline long long clock64() {
#ifdef __x86_64__
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  long long ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
inline long clock() { return clock64(); }
