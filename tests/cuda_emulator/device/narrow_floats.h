// Floats of 16 bits as bits: what device code does with conversion instructions on the GPU.
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
