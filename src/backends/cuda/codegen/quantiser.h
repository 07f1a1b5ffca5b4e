// Quantisation to bytes within expressions, and what few instructions may stand for it.
#pragma once

#include <optional>

#include "ir/expr.h"
#include "ops/byte_quotient.h"

namespace camshaft::cuda {

// An instruction that gives a byte: saturated(round(x / scale) + zero), or of x itself.
struct Quantisation {
  int x;  // instruction
  std::optional<Reciprocal> reciprocal;
  ByteRange bytes;
};
// What instruction `at` is of that kind; none when it is something else. x is without bounds that
// saturation makes superfluous, such as ReLU where the lowest byte stands for zero.
std::optional<Quantisation> quantisationAt(const Expr& expr, int at);

// An instruction that gives a float of 8 bits of x / scale: where the division is, which nothing
// else reads, and what stands for it.
struct Quotient {
  int at;
  Reciprocal reciprocal;
};
std::optional<Quotient> float8QuotientAt(const Expr& expr, int at);

}  // namespace camshaft::cuda
