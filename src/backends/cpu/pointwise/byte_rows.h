// Quantised results of one or two operands, row by row.
#pragma once

#include <cstdint>

namespace camshaft::cpu::pointwise {

// clamp(round(y / divisor) + zero, low, high), as u8 or i8.
struct Requantize {
  float divisor = 1, zero = 0, low = 0, high = 0;
};

// x / divisor on its way to a byte: fma(x, high, x * low), which a build has shown to give the same
// bytes (ops/byte_quotient.h), or the division itself where high is 0.
struct ByteQuotient {
  float divisor = 1, high = 0, low = 0;
};

// (x - zero) * scale, x being u8 after `flip` and zero its zero point then, or f32.
struct Dequantize {
  float zero = 0, scale = 1;
  int32_t flip = 0;
};

// byte = clamp(round(quotient) + zero, low, high) ^ flip, all of these as u8; flip is 128 for i8.
struct ByteBounds {
  int32_t zero = 0, low = 0, high = 255;
  int32_t flip = 0;
  float least = 0, most = 255;  // low and high of what is rounded

  ByteBounds() = default;
  ByteBounds(int32_t zero, int32_t low, int32_t high, int32_t flip)
      : zero(zero),
        low(low),
        high(high),
        flip(flip),
        least(static_cast<float>(low - zero)),
        most(static_cast<float>(high - zero)) {}
};

// A byte of value / divisor within bounds, where
//   value = x                                  of one operand
//           dequantised x + or * dequantised y of two
//
// Every operation is rounded to f32, as those of the expression are.
struct ByteResult {
  ByteQuotient quotient;
  Dequantize x, y;
  int32_t isProduct = 0;
  ByteBounds bounds;
};

enum class ByteOperand : int32_t { kNone, kBytes, kFloats };

struct ByteRow {
  const void* x = nullptr;
  const void* y = nullptr;
  int64_t yStep = 1;  // 0: one element for all
  uint8_t* out = nullptr;
  int64_t count = 0;
};
// x is there.
using ByteRowFunction = void (*)(const ByteResult& result, const ByteRow& row);
ByteRowFunction byteRowFunction(ByteOperand x, ByteOperand y);

void dequantizeRow(const Dequantize& dequantize, const uint8_t* x, int64_t count, float* out);

}  // namespace camshaft::cpu::pointwise
