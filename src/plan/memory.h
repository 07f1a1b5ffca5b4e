// Memory planning: lifetimes in, offsets out.
#pragma once

#include <cstdint>
#include <vector>

namespace camshaft {

struct BufferLifetime {
  int64_t bytes = 0;
  int firstStep = 0;   // the step that writes it
  int lastStep = 0;    // the last step that reads it, inclusive
  int64_t offset = 0;  // filled in
};

inline constexpr int64_t kArenaAlignment = 256;  // what cuBLASLt asks of workspaces
inline constexpr int64_t kWeightsAlignment = 64;

// Gives every buffer an offset so that buffers alive at the same step never overlap, and returns
// the arena's size. Largest first, each at the lowest gap that fits: within a few percent of the
// optimum on real networks, and the same for the same input. Where hundreds are alive at once, gaps
// are not looked for, so that time is in proportion to the number of buffers.
int64_t placeBuffers(std::vector<BufferLifetime>& buffers);

}  // namespace camshaft
