// What the build half tells the run half.
#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::move {

struct TransposeParams {
  int32_t rank;
  int32_t order[kMaxRank];
  bool isValid() const {
    if (rank < 0 || rank > kMaxRank) return false;
    uint32_t seen = 0;
    for (int i = 0; i < rank; ++i) {
      if (!isAxis(order[i])) return false;
      seen |= 1u << order[i];
    }
    return seen == (1u << rank) - 1;
  }
};

// Starts are the kernel's run-time numbers.
struct SliceParams {
  int32_t count;
  int32_t axes[kMaxRank];
  int64_t steps[kMaxRank];
  bool isValid() const {
    if (count < 0 || count > kMaxRank) return false;
    uint32_t seen = 0;
    for (int i = 0; i < count; ++i) {
      if (!isAxis(axes[i]) || (seen & (1u << axes[i]))) return false;
      seen |= 1u << axes[i];
    }
    return true;
  }
};

struct ConcatParams {
  int32_t axis;
  bool isValid() const { return isAxis(axis); }
};

enum class PadMode : int32_t { kConstant, kReflect, kEdge, kWrap };

// How much goes before each dimension is in the kernel's run-time numbers.
struct PadParams {
  PadMode mode;
  bool isValid() const { return mode >= PadMode::kConstant && mode <= PadMode::kWrap; }
};

}  // namespace camshaft::cpu::move
