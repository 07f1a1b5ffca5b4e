// A bool as tensors hold it.
#pragma once

#include <cstdint>

#include "support/half.h"

namespace camshaft {

// One byte, true unless it is 0. C++'s bool may be 0 or 1 only, and callers and tampered engines
// give any byte.
struct Bool {
  using Compute = bool;
  uint8_t byte;

  Bool() = default;
  CAMSHAFT_INLINE explicit Bool(bool value) : byte(value) {}
  CAMSHAFT_INLINE explicit operator bool() const { return byte != 0; }
};

}  // namespace camshaft
