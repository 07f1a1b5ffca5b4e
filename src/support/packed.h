// Elements of less than a byte: integers of 2 and 4 bits, and their places in packed arrays.
#pragma once

#include <type_traits>

#include "support/half.h"

namespace camshaft {

// One integer in the low bits of a byte. Conversions to it keep the low bits.
template <int width, bool isSigned>
struct PackedInteger {
  using Compute = std::conditional_t<isSigned, int8_t, uint8_t>;
  uint8_t bits;

  PackedInteger() = default;
  template <class Integer>
    requires std::is_integral_v<Integer>
  CAMSHAFT_INLINE explicit PackedInteger(Integer value)
      : bits(static_cast<uint8_t>(static_cast<uint64_t>(value) & ((1 << width) - 1))) {}
  CAMSHAFT_INLINE explicit operator Compute() const {
    constexpr int kSign = isSigned ? 1 << (width - 1) : 0;
    return static_cast<Compute>((bits ^ kSign) - kSign);
  }
  static constexpr PackedInteger fromBits(uint8_t bits) {
    return std::bit_cast<PackedInteger>(bits);
  }
};

using Int4 = PackedInteger<4, true>;
using UInt4 = PackedInteger<4, false>;
using Int2 = PackedInteger<2, true>;
using UInt2 = PackedInteger<2, false>;

// The bits of one element of an array of `width`-bit elements; the first lies in the low bits of
// the first byte.
CAMSHAFT_INLINE uint8_t getPacked(const void* packed, int64_t index, int width) {
  const int64_t bit = index * width;
  return static_cast<uint8_t>((static_cast<const uint8_t*>(packed)[bit / 8] >> (bit % 8)) &
                              ((1 << width) - 1));
}
CAMSHAFT_INLINE void setPacked(void* packed, int64_t index, int width, uint8_t value) {
  const int64_t bit = index * width;
  const int shift = static_cast<int>(bit % 8), mask = ((1 << width) - 1) << shift;
  uint8_t& byte = static_cast<uint8_t*>(packed)[bit / 8];
  byte = static_cast<uint8_t>((byte & ~mask) | ((value << shift) & mask));
}

}  // namespace camshaft
