#pragma once

#include <cstdint>

namespace camshaft::cpu::select {

// NonZero counts in this many parts at most, each part by one thread.
inline constexpr int64_t kNonZeroParts = 64;

struct NmsParams {
  int32_t centred;
  bool isValid() const { return centred == 0 || centred == 1; }
};

// Workspace of NonMaxSuppression for one thread: candidates as keys, corners and areas of the boxes
// that stay; 24 bytes where 20 would do, so that keys are aligned.
inline constexpr int64_t kBytesPerCandidate = 8, kBytesPerKept = 24;
// For each batch and class: how many boxes stay.
inline constexpr int64_t kBytesPerClass = 8;

}  // namespace camshaft::cpu::select
