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

// Whether the byte 0, which what is no number becomes, is one of the results: kernels clamp last.
inline bool hasZeroByte(const Requantize& q) { return q.low <= 0 && q.high >= 0; }

// How x is divided by q.divisor before it becomes a byte of `type`.
ByteQuotient quotientOf(const Requantize& q, DataType type);

ByteBounds boundsOf(const Requantize& q, DataType type);

// (x - zero) * scale of an input that is bytes, or f32, of which that may be x itself.
struct DequantizedInput {
  int input = 0;
  DataType type = DataType::kU8;
  float zero = 0, scale = 1;
  // With the zero point of what is u8 after the flip.
  Dequantize flipped() const;
};
std::optional<DequantizedInput> matchDequantized(const Expr& expr, int at);

// Inputs 0 and 1, dequantised, and added or multiplied.
struct DequantizedPair {
  DequantizedInput x, y;
  bool isProduct = false;
};
std::optional<DequantizedPair> matchPair(const Expr& expr, int at);

// The 256 results of an expression of one byte that gives bytes.
std::vector<uint8_t> tableOf(const Expr& expr);

}  // namespace camshaft::cpu::pointwise
