// What the two halves of the kernels of bytes agree on.
#pragma once

#include "backends/cpu/load_params.h"
#include "backends/cpu/pointwise/byte_rows.h"

namespace camshaft::cpu::pointwise {

inline constexpr char kTable[] = "cpu/pointwise_byte_table";
inline constexpr char kBytes[] = "cpu/pointwise_quantized";
inline constexpr char kDequantize[] = "cpu/pointwise_dequantize";

struct TableParams {
  uint8_t table[256] = {};
  bool isValid() const { return true; }
};

// Inputs of the step: x, shaped like the result, and perhaps y.
struct BytesParams {
  ByteResult result;
  ByteOperand x = ByteOperand::kNone, y = ByteOperand::kNone;
  bool isValid() const {
    const auto isKnown = [](ByteOperand operand) {
      return operand >= ByteOperand::kNone && operand <= ByteOperand::kFloats;
    };
    return isKnown(x) && isKnown(y) && x != ByteOperand::kNone;
  }
};

struct DequantizeParams {
  Dequantize dequantize;
  bool isValid() const { return true; }
};

}  // namespace camshaft::cpu::pointwise
