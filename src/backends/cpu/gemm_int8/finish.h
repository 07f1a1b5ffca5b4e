// What becomes of finished sums: zero points, scale and epilogue, and the type they are stored as.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm/epilogue.h"
#include "backends/cpu/gemm_int8/product.h"
#include "support/data_type.h"

namespace camshaft::cpu::gemm_int8 {

// clamp(round(y / divisor) + zero, low, high), as u8 or i8.
struct Requantize {
  float divisor = 1, zero = 0, low = 0, high = 0;
};

// total = sum + columnOffsets[column] - columnZeros[column] * rowSums[row]
// i32:    total
// f32:    epilogue(total * scales[column])
// bytes:  requantize(epilogue(total * scales[column])); post() needs `floats` to work on
//
// What is per column has paddedColumns(n) elements.
struct Finish {
  const int32_t* columnOffsets = nullptr;
  const int32_t* columnZeros = nullptr;  // null: none, and no row sums
  const int32_t* rowSums = nullptr;
  const float* scales = nullptr;  // null: i32
  Epilogue epilogue;              // its own scale is part of `scales`
  Requantize requantize;
  DataType type = DataType::kI32;
  void* out = nullptr;      // [m][stride]
  float* floats = nullptr;  // the same, for bytes
  int64_t stride = 0;
};

void finishSums(const Finish& finish, const Sums& sums);

}  // namespace camshaft::cpu::gemm_int8
