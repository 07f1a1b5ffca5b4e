// The few parts of the standard library device code of this project uses. Widths are spelled as
// NVRTC's headers spell them, so that overloads resolve as on the GPU.
#pragma once

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long long;

namespace std {

using ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atanh, ::ceil, ::cos, ::cosh, ::erf, ::exp,
    ::fabs, ::floor, ::fmod, ::log, ::log1p, ::pow, ::rint, ::sin, ::sinh, ::sqrt, ::tan, ::tanh,
    ::trunc;

template <class A, class B>
constexpr bool is_same_v = __is_same(A, B);
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
  static constexpr unsigned long long kTopBit = 1ull << (sizeof(T) * 8 - 1);
  static constexpr T max() { return static_cast<T>(is_signed_v<T> ? kTopBit - 1 : ~0ull); }
  static constexpr T min() { return static_cast<T>(is_signed_v<T> ? kTopBit : 0); }
};
template <>
struct numeric_limits<float> {
  static constexpr float max() { return __FLT_MAX__; }
  static constexpr float min() { return __FLT_MIN__; }
};
template <>
struct numeric_limits<double> {
  static constexpr double max() { return __DBL_MAX__; }
  static constexpr double min() { return __DBL_MIN__; }
};

}  // namespace std
