// What two sizes must satisfy for an operator to work on them.
#pragma once

#include <cstdint>

namespace camshaft {

enum class SizeRelation : uint8_t {
  kEqual,        // a == b
  kBroadcast,    // a == b, or one of them is 1
  kBroadcastTo,  // a == b, or a is 1
  kAtLeast,      // a >= b
};

inline constexpr SizeRelation kLastSizeRelation = SizeRelation::kAtLeast;

inline bool holds(SizeRelation relation, int64_t a, int64_t b) {
  switch (relation) {
    case SizeRelation::kEqual:
      return a == b;
    case SizeRelation::kBroadcast:
      return a == b || a == 1 || b == 1;
    case SizeRelation::kBroadcastTo:
      return a == b || a == 1;
    case SizeRelation::kAtLeast:
      return a >= b;
  }
  return false;
}

}  // namespace camshaft
