// Kernels over rows of f32, run on rows of bf16: each is widened on the stack, and rounded on its
// way back.
#pragma once

#include "backend/launch.h"
#include "backends/cpu/simd/bf16_rows.h"

namespace camshaft::cpu {

inline constexpr int64_t kLongestBf16Row = 4096;

// Calls body(from, to) with each of rows [begin, end) of two tensors of one type; both may be the
// same memory.
template <class Body>
void forRows(const TensorArg& x, const TensorArg& y, int64_t size, int64_t begin, int64_t end,
             Body&& body) {
  if (x.type == DataType::kF32) {
    for (int64_t row = begin; row < end; ++row)
      body(x.as<const float>() + row * size, y.as<float>() + row * size);
    return;
  }
  alignas(64) float values[kLongestBf16Row];
  for (int64_t row = begin; row < end; ++row) {
    widenRow(x.as<const BFloat16>() + row * size, size, values);
    body(values, values);
    narrowRow(values, size, y.as<BFloat16>() + row * size);
  }
}

}  // namespace camshaft::cpu
