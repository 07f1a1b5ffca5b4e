// What the expressions of scalar_ops.def call, for every element type.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace camshaft::scalar {

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::ceil, std::cos,
    std::cosh, std::erf, std::exp, std::floor, std::log, std::log1p, std::rint, std::sin, std::sinh,
    std::sqrt, std::tan, std::tanh, std::trunc;

// Element conversion: float to integer truncates, saturates when out of range and turns NaN to 0;
// integer to integer keeps the low bits; anything to bool asks whether it is not zero.
template <class To, class From>
To convert(From a) {
  if constexpr (std::is_same_v<To, bool>) {
    return a != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // The limits are powers of two (or one less), so the comparisons are exact in From.
    if (a != a) return To(0);
    if (a <= static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (a >= static_cast<From>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(a);
  } else {
    return static_cast<To>(a);
  }
}

// Integer arithmetic wraps around.
template <class T>
auto wrapping(T a) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return static_cast<std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>>(a);
  else
    return a;
}
template <class T>
T sum(T a, T b) {
  return T(wrapping(a) + wrapping(b));
}
template <class T>
T difference(T a, T b) {
  return T(wrapping(a) - wrapping(b));
}
template <class T>
T product(T a, T b) {
  return T(wrapping(a) * wrapping(b));
}
template <class T>
T negative(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return -a;
  else
    return difference(T(0), a);
}

template <class T>
T absolute(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a);
  else
    return a < T(0) ? negative(a) : a;
}

template <class T>
T clamp01(T a) {
  return a < T(0) ? T(0) : a > T(1) ? T(1) : a;
}

// Integer division by zero gives 0 and MIN / -1 wraps: a damaged model must not raise SIGFPE.
template <class T>
T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else if constexpr (std::is_same_v<T, bool>) {
    return b && a;
  } else {
    if (b == 0) return T(0);
    if (std::is_signed_v<T> && b == T(-1)) return negative(a);
    return a / b;
  }
}

template <class T>
T truncModulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>)
    return T(0);
  else
    return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(0) : T(a % b);
}

// The result takes the divisor's sign, as Python's % does.
template <class T>
T floorModulo(T a, T b) {
  const T rest = truncModulo(a, b);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? T(rest + b) : rest;
}

template <class T>
T floorDivide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::floor(a / b);
  const T quotient = divide(a, b);
  return truncModulo(a, b) != T(0) && (a < T(0)) != (b < T(0)) ? T(quotient - T(1)) : quotient;
}

// Integers by squaring, modulo 2^bits; a negative exponent truncates the fraction.
template <class T>
T power(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (b % 2 ? T(-1) : T(1)) : T(0);
    T result = 1;
    for (; b != T(0); b = T(b / 2), a = product(a, a))
      if (b % 2) result = product(result, a);
    return result;
  }
}

// NaN in, NaN out.
template <class T>
T minimum(T a, T b) {
  return a != a || a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  return a != a || a > b ? a : b;
}

template <class T>
T shiftLeft(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(b) >= sizeof(T) * 8 ? T(0) : T(static_cast<U>(a) << b);
}
template <class T>
T shiftRight(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(b) >= sizeof(T) * 8 ? T(a < T(0) ? T(-1) : T(0)) : T(a >> b);
}

}  // namespace camshaft::scalar
