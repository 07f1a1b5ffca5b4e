// Quantisation and dequantisation as the importer writes them: Pointwise nodes with scale and zero
// point beside the values.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace camshaft {

inline bool isByte(const Value* value) {
  return value->dataType() == DataType::kU8 || value->dataType() == DataType::kI8;
}

inline bool isOneConstant(const Value* value) { return value->isConstant() && value->rank() == 0; }

// Instructions from bytes to bytes that a table of 256 stands for, however many.
inline constexpr size_t kMaxTable = 512;

struct Dequantized {
  Value *values, *scale, *zero;  // zero: null when there is none
};
// Takes (values - zero) * scale apart; none when the value is not that, of bytes and in f32.
std::optional<Dequantized> dequantized(const Value* value);

struct Quantized {
  Value *values, *scale, *zero;
};
// Takes saturated(round(values / scale) + zero) apart; none when the value is not that, in bytes.
std::optional<Quantized> quantized(const Value* value);

// Both are one number, or none, and the same.
bool areSameNumber(const Value* a, const Value* b);

}  // namespace camshaft
