// What every generated kernel begins with: element types, conversions, vectors, warp and block
// reductions. Plain C++ wherever the emulator of the tests has to run it.
#ifndef CAMSHAFT_EMULATOR
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long long;
using size_t = decltype(sizeof(0));

// What scalar_math.h takes from the standard library.
namespace std {
using ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atanh, ::ceil, ::cos, ::cosh, ::erf, ::exp,
    ::fabs, ::floor, ::fmod, ::log, ::log1p, ::pow, ::rint, ::sin, ::sinh, ::sqrt, ::tan, ::tanh,
    ::trunc;
template <class A, class B>
constexpr bool is_same_v = false;
template <class A>
constexpr bool is_same_v<A, A> = true;
template <class T>
constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
constexpr bool is_integral_v = !is_floating_point_v<T>;
template <class T>
constexpr bool is_signed_v = T(-1) < T(0);
template <bool condition, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool condition, class A, class B>
using conditional_t = typename conditional<condition, A, B>::type;
template <class T>
using make_unsigned_t =
    conditional_t<sizeof(T) == 1, unsigned char,
                  conditional_t<sizeof(T) == 2, unsigned short,
                                conditional_t<sizeof(T) == 4, unsigned, unsigned long long>>>;
template <class T>
struct numeric_limits {
  static constexpr T max() { return is_signed_v<T> ? T(~(1ull << (sizeof(T) * 8 - 1))) : T(~0ull); }
  static constexpr T min() { return is_signed_v<T> ? T(1ull << (sizeof(T) * 8 - 1)) : T(0); }
};
}  // namespace std
#endif

// Narrow floats are stored as bits and computed with as float.
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
struct f8e4m3 {
  unsigned char bits;
};
struct f8e5m2 {
  unsigned char bits;
};

#ifdef CAMSHAFT_EMULATOR
float halfToFloat(unsigned short bits);  // the emulator defines these two
unsigned short floatToHalf(float value);
inline float toCompute(f16 a) { return halfToFloat(a.bits); }
inline void assign(f16& to, float a) { to.bits = floatToHalf(a); }
inline void waitForPrevious() {}
inline void letNextStart() {}
inline void showToAsync() {}
#else
__device__ __forceinline__ float toCompute(f16 a) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(a.bits));
  return result;
}
__device__ __forceinline__ void assign(f16& to, float a) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(a));
}
#if __CUDA_ARCH__ >= 890
// Floats of eight bits, of which instructions convert pairs; the first is the low byte. Numbers
// beyond the largest are rounded to that.
template <class S>
__device__ __forceinline__ unsigned float8Pair(float first, float second) {
  unsigned short pair;
  if constexpr (std::is_same_v<S, f8e4m3>)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  return pair;
}
// As a pair of f16.
template <class S>
__device__ __forceinline__ unsigned float8Halves(unsigned pair) {
  const auto bits = static_cast<unsigned short>(pair);
  unsigned halves;
  if constexpr (std::is_same_v<S, f8e4m3>)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(bits));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(bits));
  return halves;
}
template <class S>
__device__ __forceinline__ float float8At(unsigned pair, int at) {
  return toCompute(f16{static_cast<unsigned short>(float8Halves<S>(pair) >> 16 * at)});
}
__device__ __forceinline__ float toCompute(f8e4m3 a) { return float8At<f8e4m3>(a.bits, 0); }
__device__ __forceinline__ float toCompute(f8e5m2 a) { return float8At<f8e5m2>(a.bits, 0); }
__device__ __forceinline__ void assign(f8e4m3& to, float a) {
  to.bits = static_cast<unsigned char>(float8Pair<f8e4m3>(a, 0));
}
__device__ __forceinline__ void assign(f8e5m2& to, float a) {
  to.bits = static_cast<unsigned char>(float8Pair<f8e5m2>(a, 0));
}
#endif
// Programmatic dependent launch: memory of the kernels before is visible after the wait.
__device__ __forceinline__ void waitForPrevious() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void letNextStart() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
// What this thread has in shared memory is there for copies and products that run beside it.
__device__ __forceinline__ void showToAsync() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
#endif

#if defined(CAMSHAFT_EMULATOR) || __CUDA_ARCH__ < 890
// Floats of eight bits where there are no instructions for them. Numbers are rounded to the
// nearest, those beyond the largest to that.
__device__ __forceinline__ float toCompute(f8e5m2 a) {
  return toCompute(f16{static_cast<unsigned short>(a.bits << 8)});
}
__device__ __forceinline__ float toCompute(f8e4m3 a) {
  const unsigned size = a.bits & 0x7fu;
  if (size == 0x7f) return __uint_as_float(0x7fc00000u);
  const unsigned sign = a.bits & 0x80u;
  return 256 * toCompute(f16{static_cast<unsigned short>(sign << 8 | size << 7)});
}
template <int kMantissa, int kLeastExponent>
__device__ __forceinline__ unsigned char toFloat8(float a, float largest) {
  const unsigned sign = __float_as_uint(a) >> 24 & 0x80u;
  if (a != a) return static_cast<unsigned char>(sign | 0x7f);
  const float whole = a < 0 ? -a : a, size = whole < largest ? whole : largest;
  const int own = static_cast<int>(__float_as_uint(size) >> 23 & 0xff) - 127;
  const int exponent = own < kLeastExponent ? kLeastExponent : own;
  const float scale = __uint_as_float(static_cast<unsigned>(127 + kMantissa - exponent) << 23);
  const int steps = static_cast<int>(std::rint(size * scale));
  return static_cast<unsigned char>(
      sign | static_cast<unsigned>(((exponent - kLeastExponent) << kMantissa) + steps));
}
__device__ __forceinline__ void assign(f8e4m3& to, float a) { to.bits = toFloat8<3, -6>(a, 448); }
__device__ __forceinline__ void assign(f8e5m2& to, float a) {
  to.bits = toFloat8<2, -14>(a, 57344);
}
template <class S>
__device__ __forceinline__ unsigned float8Pair(float first, float second) {
  S low, high;
  assign(low, first);
  assign(high, second);
  return low.bits | high.bits << 8;
}
template <class S>
__device__ __forceinline__ float float8At(unsigned pair, int at) {
  return toCompute(S{static_cast<unsigned char>(pair >> 8 * at)});
}
template <class S>
__device__ __forceinline__ unsigned float8Halves(unsigned pair) {
  f16 low, high;
  assign(low, float8At<S>(pair, 0));
  assign(high, float8At<S>(pair, 1));
  return low.bits | static_cast<unsigned>(high.bits) << 16;
}
#endif

__device__ __forceinline__ float toCompute(bf16 a) {
  return __uint_as_float(static_cast<unsigned>(a.bits) << 16);
}
__device__ __forceinline__ void assign(bf16& to, float a) {
  const unsigned bits = __float_as_uint(a);
  to.bits =
      a != a ? 0x7fff : static_cast<unsigned short>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
template <class T>
__device__ __forceinline__ T toCompute(T a) {
  return a;
}
template <class T>
__device__ __forceinline__ void assign(T& to, T a) {
  to = a;
}

template <class S>
struct ComputeOf {
  using type = S;
};
template <>
struct ComputeOf<f16> {
  using type = float;
};
template <>
struct ComputeOf<bf16> {
  using type = float;
};
template <>
struct ComputeOf<f8e4m3> {
  using type = float;
};
template <>
struct ComputeOf<f8e5m2> {
  using type = float;
};
template <class S>
using Compute = typename ComputeOf<S>::type;

template <class S>
__device__ __forceinline__ S toStorage(Compute<S> a) {
  S result;
  assign(result, a);
  return result;
}
template <class S>
__device__ __forceinline__ float rounded(float a) {
  return toCompute(toStorage<S>(a));
}

// N elements moved by as few instructions as their alignment, at most 16 bytes, allows.
template <class S, int N>
struct alignas(sizeof(S) * N < 16 ? sizeof(S) * N : 16) Vector {
  S v[N];
};
template <int N, class S>
__device__ __forceinline__ Vector<S, N> loadVector(const S* from) {
  return *reinterpret_cast<const Vector<S, N>*>(from);
}
template <int N, class S>
__device__ __forceinline__ void storeVector(S* to, const Vector<S, N>& values) {
  *reinterpret_cast<Vector<S, N>*>(to) = values;
}

// Reductions by all threads of a warp or block; every thread gets the result. `combine` is a
// functor on (T, T). blockReduce needs kWarps * sizeof(T) bytes of shared memory at `scratch`,
// free again when it returns.
template <class T, class F>
__device__ __forceinline__ T warpReduce(T value, F combine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}
template <int kThreads, class T, class F>
__device__ __forceinline__ T blockReduce(T value, F combine, T* scratch) {
  value = warpReduce(value, combine);
  constexpr int kWarps = kThreads / 32;
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = scratch[0];
#pragma unroll
    for (int i = 1; i < kWarps; ++i) value = combine(value, scratch[i]);
    __syncthreads();
  }
  return value;
}
struct Sum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Largest {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};
struct Smallest {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a != a || a < b ? a : b;
  }
};
