// How many elements sizes make, where the sizes may be anything.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace camshaft {

// Elements of a tensor of these sizes; -1, which no tensor has, when they cannot be counted. Sizes
// of empty tensors, and those in parameters, may be anything.
inline int64_t volumeOf(std::span<const int64_t> sizes) {
  int64_t volume = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(volume, size, &volume)) return -1;
  return volume;
}
inline int64_t volumeOf(std::initializer_list<int64_t> sizes) {
  return volumeOf(std::span<const int64_t>(sizes.begin(), sizes.size()));
}

}  // namespace camshaft
