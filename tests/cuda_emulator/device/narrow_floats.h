// Floats of 16 and 8 bits as bits: what device code does with conversion instructions on the GPU.
#pragma once

#ifdef __aarch64__
using NativeHalf = __fp16;  // GCC 12 has no _Float16 in C++ there
#else
using NativeHalf = _Float16;
#endif

inline float halfToFloat(unsigned short bits) {
  return static_cast<float>(__builtin_bit_cast(NativeHalf, bits));
}
inline unsigned short floatToHalf(float value) {
  return __builtin_bit_cast(unsigned short, static_cast<NativeHalf>(value));
}

// e4m3: bias 7, no infinities, NaN is 0x7F. e5m2: bias 15, the upper byte of a half.
inline float float8ToFloat(unsigned char bits, bool e4m3) {
  if (!e4m3) return halfToFloat(static_cast<unsigned short>(bits << 8));
  if ((bits & 0x7F) == 0x7F) return NAN;
  const int exponent = bits >> 3 & 15;
  const int mantissa = bits & 7;
  const float magnitude = exponent ? ldexpf(8 + mantissa, exponent - 10) : ldexpf(mantissa, -9);
  return bits & 0x80 ? -magnitude : magnitude;
}

// To nearest even; what is too large becomes the largest finite value (satfinite).
inline unsigned char floatToFloat8(float value, bool e4m3) {
  const unsigned char sign = signbit(value) ? 0x80 : 0;
  if (isnan(value)) return 0x7F;
  const int mantissaBits = e4m3 ? 3 : 2;
  const int minExponent = e4m3 ? -6 : -14;
  const float largest = e4m3 ? 448.0f : 57344.0f;
  const float magnitude = fminf(fabsf(value), largest);
  if (magnitude == 0.0f) return sign;
  const int exponent = max(ilogbf(magnitude), minExponent);
  // In units of the last place: a carry out of the mantissa moves on to the next exponent by
  // itself.
  const int units = static_cast<int>(rintf(ldexpf(magnitude, mantissaBits - exponent)));
  return sign | static_cast<unsigned char>(((exponent - minExponent) << mantissaBits) + units);
}
