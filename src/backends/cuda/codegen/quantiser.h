// Quantisation to bytes within expressions, and what few instructions may stand for it.
#pragma once

#include <optional>

#include "ir/expr.h"

namespace camshaft::cuda {

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

// An instruction that gives a byte: saturated(round(x / scale) + zero), or of x itself.
struct Quantisation {
  int x;  // instruction
  std::optional<Reciprocal> reciprocal;
  ByteRange bytes;
};
// What instruction `at` is of that kind; none when it is something else. x is without bounds that
// saturation makes superfluous, such as ReLU where the lowest byte stands for zero.
std::optional<Quantisation> quantisationAt(const Expr& expr, int at);

}  // namespace camshaft::cuda
