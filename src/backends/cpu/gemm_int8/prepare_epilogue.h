// Build half: the epilogue of a product of integers. Its sums become floats when they are
// multiplied by the operands' scales, and perhaps bytes again in the end.
//
//   mul(cast(x0, f32), mul(x1, 0.5))                              -> scales alone
//   gelu(add(mul(cast(x0, f32), x1), x2))                         -> scale, then FusedEpilogue
//   cast(min(max(add(round(div(t, 0.1)), 3), 0), 255), u8)        -> t, then requantised
//
// Bytes are made in registers where the rest is no more than ByteFinish does (prepare_bytes.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/gemm/prepare_epilogue.h"
#include "backends/cpu/gemm_int8/finish.h"

namespace camshaft::cpu::gemm_int8 {

struct ScaledEpilogue {
  DataType type = DataType::kI32;  // what is stored; for i32 nothing else counts
  float factor = 1;
  std::vector<int> scaleInputs;      // inputs of the node, one number or one per column
  FusedEpilogue fused;               // of the scaled sums
  pointwise::Requantize requantize;  // for bytes
  ByteForm bytes;                    // for bytes too, when isUsed; then `fused` comes before it
  int bytesResidual = -1;            // an input of the node
  std::vector<uint8_t> table;        // empty: none
  std::string refusal;               // why the epilogue must be split off; empty: it need not

  bool hasResidual() const { return fused.residualInput >= 0 || bytesResidual >= 0; }
  bool givesBytes() const { return type == DataType::kU8 || type == DataType::kI8; }
};

ScaledEpilogue scaledEpilogue(const Node& node);

// Of the node's epilogue up to an instruction that gives f32: scales, then FusedEpilogue.
bool takeScales(const Node& node, const Expr& expr, ScaledEpilogue& scaled);
// prepare_bytes.cpp: an epilogue that ByteFinish does.
std::optional<ScaledEpilogue> byteEpilogue(const Node& node);
// The expression whose result is instruction `at`, without what that does not need.
Expr upTo(const Expr& expr, int at);

// Adds what it reads to the step's inputs, and writes what ScaleState reads back.
void writeScaledEpilogue(const ScaledEpilogue& scaled, Prepared& prepared, ByteWriter& writer);

}  // namespace camshaft::cpu::gemm_int8
