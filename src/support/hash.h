// A fast 64-bit hash for caches and damage checks; not for secrets.
//
// The value depends on the bytes alone, so it may be stored in files.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace camshaft {

// Bytes may arrive in any pieces: the digest is that of their concatenation.
class Hasher {
 public:
  Hasher& update(std::span<const std::byte> bytes);

  // Eight bytes whatever the type, so an int and an int64_t of equal value count the same.
  template <std::integral T>
  Hasher& add(T value) {
    const uint64_t wide = static_cast<uint64_t>(value);
    return update(std::as_bytes(std::span(&wide, 1)));
  }
  // The length counts too: "ab","c" and "a","bc" differ.
  Hasher& add(std::string_view text);

  uint64_t digest() const;

 private:
  static constexpr size_t kLanes = 4;
  static constexpr size_t kBlock = kLanes * sizeof(uint64_t);

  void absorb(const std::byte* blocks, size_t count);

  // Four chains that do not wait for each other keep the multiplier busy. The start values are
  // odd constants without structure.
  std::array<uint64_t, kLanes> lanes_{0x8f1bbcdc2e5a9d37, 0x62a9c1d75b84e3f1, 0xd3c5a7f91e6b4829,
                                      0x1b56c4e9a3d87f65};
  std::array<std::byte, kBlock> tail_{};  // bytes since the last whole block, then zeros
  uint64_t length_ = 0;
};

uint64_t hashBytes(std::span<const std::byte> bytes);

}  // namespace camshaft
