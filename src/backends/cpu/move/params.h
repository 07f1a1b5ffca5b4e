// What the build half tells the run half.
#pragma once

#include <cstdint>

#include "backend/launch.h"

namespace camshaft::cpu::move {

struct TransposeParams {
  int32_t rank;
  int32_t order[kMaxRank];
};

// Starts are the kernel's run-time numbers.
struct SliceParams {
  int32_t count;
  int32_t axes[kMaxRank];
  int64_t steps[kMaxRank];
};

struct ConcatParams {
  int32_t axis;
};

enum class PadMode : int32_t { kConstant, kReflect, kEdge, kWrap };

// How much goes before each dimension is in the kernel's run-time numbers.
struct PadParams {
  PadMode mode;
};

}  // namespace camshaft::cpu::move
