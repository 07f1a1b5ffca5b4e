// Narrow floating-point element types: bits in memory, arithmetic in float.
//
// Conversions from float round to nearest, ties to even. Half and BFloat16 overflow to infinity;
// the 8- and 4-bit types saturate to their largest finite value, as ONNX Cast does by default.
// `Compute` is the type that elements are computed in.
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
inline constexpr uint32_t kFloatNan = 0x7fc00000;

}  // namespace detail

// IEEE binary16: 5 exponent and 10 mantissa bits.
struct Half {
  using Compute = float;
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
  using Compute = float;
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

enum class Specials {
  kIeee,         // infinities and NaNs in the largest exponent
  kOneNan,       // no infinities, NaN is all ones
  kNanForMinus0  // no infinities, no negative zero: its bits are NaN
};

// `largest` is the largest finite magnitude.
template <int mantissaBits, int bias, uint8_t largest, Specials specials>
struct Float8 {
  using Compute = float;
  uint8_t bits;

  Float8() = default;
  CAMSHAFT_INLINE explicit Float8(float value) {
    constexpr uint32_t kLargest =
        (uint32_t{largest} << (23 - mantissaBits)) + (uint32_t{127 - bias} << 23);
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = all & 0x7fffffff;
    const bool isNan = magnitude > detail::kFloatInfinity;
    uint32_t small = detail::encodeMagnitude<mantissaBits, bias>(magnitude);
    small = magnitude >= kLargest ? largest : small;
    uint32_t sign = (all >> 24) & 0x80;
    if constexpr (specials == Specials::kNanForMinus0) {
      sign = small == 0 ? 0 : sign;
      bits = static_cast<uint8_t>(isNan ? 0x80 : sign | small);
    } else {
      bits = static_cast<uint8_t>(sign | (isNan ? 0x7f : small));
    }
  }
  CAMSHAFT_INLINE explicit operator float() const {
    const uint32_t magnitude = bits & 0x7fu;
    uint32_t value = detail::decodeMagnitude<mantissaBits, bias>(magnitude);
    if constexpr (specials == Specials::kIeee)
      value |= magnitude > largest ? detail::kFloatInfinity : 0;
    else if constexpr (specials == Specials::kOneNan)
      value = magnitude > largest ? detail::kFloatNan : value;
    else
      value = bits == 0x80 ? detail::kFloatNan : value;
    return std::bit_cast<float>(((bits & 0x80u) << 24) | value);
  }
  static constexpr Float8 fromBits(uint8_t bits) { return std::bit_cast<Float8>(bits); }
};

using Float8E4M3 = Float8<3, 7, 0x7e, Specials::kOneNan>;             // up to 448
using Float8E5M2 = Float8<2, 15, 0x7b, Specials::kIeee>;              // up to 57344
using Float8E4M3Fnuz = Float8<3, 8, 0x7f, Specials::kNanForMinus0>;   // up to 240
using Float8E5M2Fnuz = Float8<2, 16, 0x7f, Specials::kNanForMinus0>;  // up to 57344

// The scales of microscaling formats: 2^(bits - 127), and NaN as 255. Conversion from float drops
// the sign and takes the next power of two that is not smaller, at most 2^127.
struct Float8E8M0 {
  using Compute = float;
  uint8_t bits;

  Float8E8M0() = default;
  CAMSHAFT_INLINE explicit Float8E8M0(float value) {
    constexpr uint32_t kSmallest = 0x400000;  // 2^-127, a subnormal float
    const uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffff;
    const uint32_t roundedUp = (magnitude + 0x7fffff) >> 23;
    const uint32_t finite = magnitude <= kSmallest ? 0 : roundedUp > 254 ? 254 : roundedUp;
    bits = static_cast<uint8_t>(magnitude > detail::kFloatInfinity ? 255 : finite);
  }
  CAMSHAFT_INLINE explicit operator float() const {
    const uint32_t finite = bits == 0 ? 0x400000 : uint32_t{bits} << 23;
    return std::bit_cast<float>(bits == 255 ? detail::kFloatNan : finite);
  }
  static constexpr Float8E8M0 fromBits(uint8_t bits) { return std::bit_cast<Float8E8M0>(bits); }
};

// One ONNX float4e2m1 in the low nibble: ±{0, 0.5, 1, 1.5, 2, 3, 4, 6}. It has neither infinity
// nor NaN: infinities become ±6, and every NaN 0.
struct Float4E2M1 {
  using Compute = float;
  uint8_t bits;

  Float4E2M1() = default;
  CAMSHAFT_INLINE explicit Float4E2M1(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = all & 0x7fffffff;
    uint32_t small = detail::encodeMagnitude<1, 1>(magnitude);
    small = magnitude >= std::bit_cast<uint32_t>(6.0f) ? 0x7 : small;
    const uint32_t signedBits = ((all >> 28) & 0x8) | small;
    bits = static_cast<uint8_t>(magnitude > detail::kFloatInfinity ? 0 : signedBits);
  }
  CAMSHAFT_INLINE explicit operator float() const {
    const uint32_t value = detail::decodeMagnitude<1, 1>(bits & 0x7u);
    return std::bit_cast<float>(((bits & 0x8u) << 28) | value);
  }
  static constexpr Float4E2M1 fromBits(uint8_t bits) { return std::bit_cast<Float4E2M1>(bits); }
};

// `count` elements from one array to another; source and destination do not overlap. The templates
// are for the floats of one byte.
void convertToFloat(const Half* from, float* to, size_t count);
void convertToFloat(const BFloat16* from, float* to, size_t count);
template <class Narrow>
void convertToFloat(const Narrow* from, float* to, size_t count);
void convertFromFloat(const float* from, Half* to, size_t count);
void convertFromFloat(const float* from, BFloat16* to, size_t count);
template <class Narrow>
void convertFromFloat(const float* from, Narrow* to, size_t count);

}  // namespace camshaft
