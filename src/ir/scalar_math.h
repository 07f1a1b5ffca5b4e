// What the expressions of scalar_ops.def call, for every element type.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace camshaft::scalar {

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::ceil, std::cos,
    std::cosh, std::erf, std::exp, std::floor, std::log, std::log1p, std::rint, std::sin, std::sinh,
    std::sqrt, std::tan, std::tanh, std::trunc;

template <class T>
T absolute(T a) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
  return a < T(0) ? T(0) - a : a;
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
    if (std::is_signed_v<T> && b == T(-1)) return T(0 - static_cast<std::make_unsigned_t<T>>(a));
    return a / b;
  }
}

template <class T>
T truncModulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>) return T(0);
  else return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(0) : T(a % b);
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

template <class T>
T power(T a, T b) {
  return static_cast<T>(std::pow(static_cast<std::conditional_t<std::is_same_v<T, float>, float, double>>(a),
                                 static_cast<std::conditional_t<std::is_same_v<T, float>, float, double>>(b)));
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
