// Which steps may run side by side, by the memory they touch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace camshaft {

struct MemoryRange {
  uintptr_t begin = 0, end = 0;

  static MemoryRange of(const void* data, int64_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(data);
    return {begin, begin + static_cast<uintptr_t>(bytes)};
  }
  bool meets(const MemoryRange& other) const {  // in a byte of both
    return std::max(begin, other.begin) < std::min(end, other.end);
  }
};

struct TouchedMemory {
  std::vector<MemoryRange> read, written;
};

// For each step, the earlier ones it has to wait for: those that write what it reads or writes, and
// those that read what it writes. What a step waits for through another one is left out. Of more
// than kMostOrdered steps each waits for the one before: to compare all with all takes too long.
inline constexpr size_t kMostOrdered = 4096;
using StepOrder = std::vector<std::vector<size_t>>;
StepOrder orderByMemory(std::span<const TouchedMemory> steps);

// Whether every step waits for the one before it, so that nothing runs side by side.
bool isChain(const StepOrder& order);

}  // namespace camshaft
