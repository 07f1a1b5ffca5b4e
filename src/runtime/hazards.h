// Which steps may run side by side, by the memory they touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace camshaft {

struct MemoryRange {
  uintptr_t begin = 0, end = 0;
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
