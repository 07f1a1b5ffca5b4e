// Quotients that are rounded to bytes or to floats of 8 bits, without a division.
#pragma once

#include <optional>

#include "support/data_type.h"

namespace camshaft {

// The bytes that round(x / scale) + zero saturates to.
struct ByteRange {
  DataType type = DataType::kU8;
  int zero = 0;
  int lowest() const { return type == DataType::kI8 ? -128 : 0; }
  int highest() const { return lowest() + 255; }
};

// 1 / scale as the sum of two floats. fma(x, high, x * low) then rounds to the same bytes as
// x / scale does, for every x.
struct Reciprocal {
  float high, low;
};
// None where that does not hold, and for powers of two, whose reciprocal is one float.
std::optional<Reciprocal> reciprocalFor(float scale, const ByteRange& bytes);
// The same for quotients that are rounded to f8e4m3 or f8e5m2.
std::optional<Reciprocal> reciprocalFor(float scale, DataType float8);

}  // namespace camshaft
