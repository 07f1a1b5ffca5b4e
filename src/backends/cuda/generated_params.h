// Parameters of a generated kernel, written when it is printed and read by its launcher.
#pragma once

#include <cstddef>
#include <cstdint>

namespace camshaft::cuda {

// All devices take 4 KB of arguments.
constexpr size_t kMostArguments = 512;

inline constexpr char kGeneratedPrefix[] = "cuda/";

// The compute capability from which on a kernel starts before the one ahead of it has ended, and
// waits for that inside.
inline constexpr int kOverlaps = 90;

// The entry point's name is the step's kernel name without the prefix. Its arguments are the step's
// inputs and outputs, the workspace if it has one, then the numbers after the three of the grid.
struct GeneratedParams {
  uint32_t block = 0;        // threads
  uint32_t sharedBytes = 0;  // dynamic shared memory
  uint32_t cluster = 1;      // blocks along x that are scheduled together
  uint32_t hasWorkspace = 0;
  uint32_t zeroedBytes = 0;  // at the beginning of the workspace, before every launch
};

}  // namespace camshaft::cuda
