// What becomes of finished sums: zero points, scale and epilogue, and the type they are stored as.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm/epilogue.h"
#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/product.h"
#include "backends/cpu/pointwise/byte_rows.h"
#include "support/data_type.h"

namespace camshaft::cpu::gemm_int8 {

// Where the whole epilogue is sums that are quantised, in one pass over registers:
//
//   value = total * scales[column] + bias[column] + residual, of floats or dequantised bytes
//   stage = clamp(round(value / first), low, high) * scale + such a one of bytes, instead
//   byte  = clamp(round(value / first, or stage / last) + zero, low, high),
//           then table[byte] where there is one
//
// As f32, what is behind the stage is stored. A stage is a value that was quantised and dequantised
// again. Every operation is rounded to f32, as those of the expression are, so that bytes are the
// same on all devices.
struct ByteFinish {
  enum class Residual : int32_t { kNone, kFloats, kBytes };

  bool isUsed = false;
  const float* scales = nullptr;
  const float* bias = nullptr;
  bool hasStage = false;
  pointwise::ByteQuotient first, last;
  float stageLow = 0, stageHigh = 0, stageScale = 1;
  Residual residualKind = Residual::kNone;
  const void* residual = nullptr;    // [m][stride], floats or bytes
  pointwise::Dequantize dequantize;  // of bytes
  pointwise::ByteBounds bounds;
  const uint8_t* table = nullptr;  // 256 bytes
};

// total = sum + columnOffsets[column] - columnZeros[column] * rowSums[row]
// i32:    total
// f32:    epilogue(total * scales[column])
// bytes:  requantize(epilogue(total * scales[column])), for which post() needs `floats` to work on
//
// or, where `bytes` is used, as that says.
//
// What is per column has paddedColumns(n) elements.
struct Finish {
  const int32_t* columnOffsets = nullptr;
  const int32_t* columnZeros = nullptr;  // null: none, and no row sums
  const float* scales = nullptr;         // null: i32
  Epilogue epilogue;                     // its own scale is part of `scales`
  pointwise::Requantize requantize;
  ByteFinish bytes;
  DataType type = DataType::kI32;
  void* out = nullptr;      // [m][stride]
  float* floats = nullptr;  // the same, for bytes
  int64_t stride = 0;
};

void finishSums(const Finish& finish, const Sums& sums);

// finish_bytes.cpp: where `bytes` is used.
void finishBytes(const Finish& finish, const Sums& sums);

}  // namespace camshaft::cpu::gemm_int8
