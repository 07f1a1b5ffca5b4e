// Build half: the epilogue of a product of integers. Its sums become floats when they are
// multiplied by the operands' scales, and perhaps bytes again in the end.
//
//   mul(cast(x0, f32), mul(x1, 0.5))                              -> scales alone
//   gelu(add(mul(cast(x0, f32), x1), x2))                         -> scale, then FusedEpilogue
//   cast(min(max(add(round(div(t, 0.1)), 3), 0), 255), u8)        -> t, then requantised
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/gemm/prepare_epilogue.h"
#include "backends/cpu/gemm_int8/finish.h"

namespace camshaft::cpu::gemm_int8 {

struct ScaledEpilogue {
  DataType type = DataType::kI32;  // what is stored; for i32 nothing else counts
  float factor = 1;
  std::vector<int> scaleInputs;  // inputs of the node, one number or one per column
  FusedEpilogue fused;           // of the scaled sums
  Requantize requantize;         // for bytes
  std::string refusal;           // why the epilogue must be split off; empty: it need not

  bool givesBytes() const { return type == DataType::kU8 || type == DataType::kI8; }
};

ScaledEpilogue scaledEpilogue(const Node& node);

// Adds what it reads to the step's inputs, and writes what ScaleState reads back.
void writeScaledEpilogue(const ScaledEpilogue& scaled, Prepared& prepared, ByteWriter& writer);

}  // namespace camshaft::cpu::gemm_int8
