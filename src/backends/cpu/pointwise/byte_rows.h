// Quantised results of one or two operands, row by row.
#pragma once

#include <cstdint>

namespace camshaft::cpu::pointwise {

// clamp(round(y / divisor) + zero, low, high), as u8 or i8.
struct Requantize {
  float divisor = 1, zero = 0, low = 0, high = 0;
};

// byte = clamp(round(value) + zero, low, high) ^ flip, where
//   value = x / divisor                                          of one operand
//           product * x * y + first * x + second * y + constant  of two
//
// Operands are f32, or bytes that are u8 after `xFlip` and `yFlip`.
struct ByteResult {
  float divisor = 1;
  float product = 0, first = 0, second = 0, constant = 0;
  int32_t zero = 0, low = 0, high = 255;
  int32_t flip = 0, xFlip = 0, yFlip = 0;
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

// out[i] = (x[i] - zero) * scale, x being u8 after `flip` and zero its zero point then.
struct Dequantize {
  float zero = 0, scale = 1;
  int32_t flip = 0;
};
void dequantizeRow(const Dequantize& dequantize, const uint8_t* x, int64_t count, float* out);

}  // namespace camshaft::cpu::pointwise
