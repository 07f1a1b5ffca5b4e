// Build half: recognises what expressions do with bytes.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "backends/cpu/pointwise/byte_rows.h"
#include "ir/expr.h"

namespace camshaft::cpu::pointwise {

inline bool isByte(DataType type) { return type == DataType::kU8 || type == DataType::kI8; }

// Takes cast(clamp(round(t / divisor) + zero)) apart and returns t; none when it is not that.
std::optional<int> matchRequantize(const Expr& expr, Requantize& result);

// Relu, minima and maxima with constants around a value, which peelClamp() returns.
struct Clamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};
int peelClamp(const Expr& expr, int at, Clamp& clamp);
// A clamp in front of rounding is one behind it.
void applyClamp(const Clamp& clamp, Requantize& q);

// product * x0 * x1 + first * x0 + second * x1 + constant, x0 and x1 being bytes or f32.
struct Bilinear {
  double product = 0, first = 0, second = 0, constant = 0;
};
std::optional<Bilinear> matchBilinear(const Expr& expr, int at);

// The 256 results of an expression of one byte that gives bytes.
std::vector<uint8_t> tableOf(const Expr& expr);

}  // namespace camshaft::cpu::pointwise
