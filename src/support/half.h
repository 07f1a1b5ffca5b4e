// Narrow floating-point element types: bits in memory, arithmetic in float.
//
// Conversions from float round to nearest, ties to even. Half and BFloat16 overflow to infinity;
// the 8- and 4-bit types saturate to their largest finite value, as ONNX Cast does by default.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// Inlined without exception: an out-of-line copy made in a file that is compiled for a newer
// instruction set could be the one the linker keeps for everybody.
#define CAMSHAFT_INLINE [[gnu::always_inline]] inline

namespace camshaft {

namespace detail {

// A minifloat has `mantissaBits` below an exponent of the given bias; its smallest normal number
// is 2^(1 - bias). Magnitudes are passed as the bits of the float without its sign.
//
// Rounds a finite magnitude. The caller handles results past its largest finite value.
template <int mantissaBits, int bias>
CAMSHAFT_INLINE uint32_t encodeMagnitude(uint32_t magnitude) {
  constexpr int kDropped = 23 - mantissaBits;
  constexpr uint32_t kSmallestNormal = uint32_t{127 + 1 - bias} << 23;
  // The float whose last place is the minifloat's subnormal step: adding it makes the FPU round.
  constexpr uint32_t kStep = uint32_t{127 + 1 - bias + kDropped} << 23;
  const float stepped = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kStep);
  const uint32_t subnormal = std::bit_cast<uint32_t>(stepped) - kStep;
  const uint32_t isOdd = (magnitude >> kDropped) & 1;
  const uint32_t rebased = magnitude - (uint32_t{127 - bias} << 23);
  const uint32_t normal = (rebased + (uint32_t{1} << (kDropped - 1)) - 1 + isOdd) >> kDropped;
  return magnitude < kSmallestNormal ? subnormal : normal;
}

template <int mantissaBits, int bias>
CAMSHAFT_INLINE uint32_t decodeMagnitude(uint32_t magnitude) {
  constexpr uint32_t kSmallestNormal = uint32_t{127 + 1 - bias} << 23;
  const uint32_t rebased = (magnitude << (23 - mantissaBits)) + (uint32_t{127 - bias} << 23);
  // A subnormal gets an implicit one it does not have; subtracting that one also normalises it.
  const uint32_t subnormal = std::bit_cast<uint32_t>(
      std::bit_cast<float>(rebased + (uint32_t{1} << 23)) - std::bit_cast<float>(kSmallestNormal));
  return (magnitude >> mantissaBits) == 0 ? subnormal : rebased;
}

inline constexpr uint32_t kFloatInfinity = 0x7f800000;

}  // namespace detail

// IEEE binary16: 5 exponent and 10 mantissa bits.
struct Half {
  uint16_t bits;

  Half() = default;
  CAMSHAFT_INLINE explicit Half(float value) {
#if defined(__aarch64__)
    bits = std::bit_cast<uint16_t>(static_cast<__fp16>(value));
#else
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = all & 0x7fffffff;
    uint32_t half = detail::encodeMagnitude<10, 15>(magnitude);
    half = magnitude >= 0x47800000 ? 0x7c00 : half;  // 2^16 and above
    half = magnitude > detail::kFloatInfinity ? 0x7e00 : half;
    bits = static_cast<uint16_t>(((all >> 16) & 0x8000) | half);
#endif
  }
  CAMSHAFT_INLINE explicit operator float() const {
#if defined(__aarch64__)
    return std::bit_cast<__fp16>(bits);
#else
    const uint32_t magnitude = bits & 0x7fffu;
    uint32_t value = detail::decodeMagnitude<10, 15>(magnitude);
    value |= magnitude >= 0x7c00 ? detail::kFloatInfinity : 0;
    return std::bit_cast<float>(((bits & 0x8000u) << 16) | value);
#endif
  }
  static constexpr Half fromBits(uint16_t bits) { return std::bit_cast<Half>(bits); }
};

// The upper half of a float: 8 exponent and 7 mantissa bits.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  CAMSHAFT_INLINE explicit BFloat16(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (all + 0x7fff + ((all >> 16) & 1)) >> 16;
    const uint32_t quietNan = (all >> 16) | 0x40;
    bits = static_cast<uint16_t>((all & 0x7fffffff) > detail::kFloatInfinity ? quietNan : rounded);
  }
  CAMSHAFT_INLINE explicit operator float() const {
    return std::bit_cast<float>(uint32_t{bits} << 16);
  }
  static constexpr BFloat16 fromBits(uint16_t bits) { return std::bit_cast<BFloat16>(bits); }
};

// ONNX float8e4m3fn: no infinities, one NaN per sign, largest 448.
struct Float8E4M3 {
  uint8_t bits;

  Float8E4M3() = default;
  CAMSHAFT_INLINE explicit Float8E4M3(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = all & 0x7fffffff;
    uint32_t small = detail::encodeMagnitude<3, 7>(magnitude);
    small = magnitude >= std::bit_cast<uint32_t>(448.0f) ? 0x7e : small;
    small = magnitude > detail::kFloatInfinity ? 0x7f : small;
    bits = static_cast<uint8_t>(((all >> 24) & 0x80) | small);
  }
  CAMSHAFT_INLINE explicit operator float() const {
    const uint32_t magnitude = bits & 0x7fu;
    uint32_t value = detail::decodeMagnitude<3, 7>(magnitude);
    value = magnitude == 0x7f ? 0x7fc00000 : value;
    return std::bit_cast<float>(((bits & 0x80u) << 24) | value);
  }
  static constexpr Float8E4M3 fromBits(uint8_t bits) { return std::bit_cast<Float8E4M3>(bits); }
};

// ONNX float8e5m2: has infinities, though conversion from float saturates to 57344.
struct Float8E5M2 {
  uint8_t bits;

  Float8E5M2() = default;
  CAMSHAFT_INLINE explicit Float8E5M2(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = all & 0x7fffffff;
    uint32_t small = detail::encodeMagnitude<2, 15>(magnitude);
    small = magnitude >= std::bit_cast<uint32_t>(57344.0f) ? 0x7b : small;
    small = magnitude > detail::kFloatInfinity ? 0x7f : small;
    bits = static_cast<uint8_t>(((all >> 24) & 0x80) | small);
  }
  CAMSHAFT_INLINE explicit operator float() const {
    const uint32_t magnitude = bits & 0x7fu;
    uint32_t value = detail::decodeMagnitude<2, 15>(magnitude);
    value |= magnitude >= 0x7c ? detail::kFloatInfinity : 0;
    return std::bit_cast<float>(((bits & 0x80u) << 24) | value);
  }
  static constexpr Float8E5M2 fromBits(uint8_t bits) { return std::bit_cast<Float8E5M2>(bits); }
};

// One ONNX float4e2m1 in the low nibble: ±{0, 0.5, 1, 1.5, 2, 3, 4, 6}. It has neither infinity
// nor NaN: infinities become ±6, and every NaN +6.
struct Float4E2M1 {
  uint8_t bits;

  Float4E2M1() = default;
  CAMSHAFT_INLINE explicit Float4E2M1(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = all & 0x7fffffff;
    uint32_t small = detail::encodeMagnitude<1, 1>(magnitude);
    small = magnitude >= std::bit_cast<uint32_t>(6.0f) ? 0x7 : small;
    const uint32_t sign = magnitude > detail::kFloatInfinity ? 0 : (all >> 28) & 0x8;
    bits = static_cast<uint8_t>(sign | small);
  }
  CAMSHAFT_INLINE explicit operator float() const {
    const uint32_t value = detail::decodeMagnitude<1, 1>(bits & 0x7u);
    return std::bit_cast<float>(((bits & 0x8u) << 28) | value);
  }
  static constexpr Float4E2M1 fromBits(uint8_t bits) { return std::bit_cast<Float4E2M1>(bits); }
};

// `count` elements from one array to another; source and destination do not overlap.
void convertToFloat(const Half* from, float* to, size_t count);
void convertToFloat(const BFloat16* from, float* to, size_t count);
void convertToFloat(const Float8E4M3* from, float* to, size_t count);
void convertToFloat(const Float8E5M2* from, float* to, size_t count);
void convertFromFloat(const float* from, Half* to, size_t count);
void convertFromFloat(const float* from, BFloat16* to, size_t count);
void convertFromFloat(const float* from, Float8E4M3* to, size_t count);
void convertFromFloat(const float* from, Float8E5M2* to, size_t count);

// Arrays of 4-bit elements hold two per byte, the even index in the low nibble.
CAMSHAFT_INLINE uint8_t getNibble(const void* packed, size_t index) {
  const uint8_t byte = static_cast<const uint8_t*>(packed)[index / 2];
  return index % 2 ? byte >> 4 : byte & 0xf;
}
CAMSHAFT_INLINE void setNibble(void* packed, size_t index, uint8_t value) {
  uint8_t& byte = static_cast<uint8_t*>(packed)[index / 2];
  const int shift = index % 2 ? 4 : 0;
  byte = static_cast<uint8_t>((byte & (0xf0 >> shift)) | ((value & 0xf) << shift));
}
CAMSHAFT_INLINE int getInt4(const void* packed, size_t index) {
  return (getNibble(packed, index) ^ 8) - 8;
}
CAMSHAFT_INLINE int getUInt4(const void* packed, size_t index) { return getNibble(packed, index); }
CAMSHAFT_INLINE float getFloat4(const void* packed, size_t index) {
  return static_cast<float>(Float4E2M1::fromBits(getNibble(packed, index)));
}

}  // namespace camshaft
