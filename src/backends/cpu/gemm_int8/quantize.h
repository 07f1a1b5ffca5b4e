// Quantisation of f32 to u8 by the range of the values.
#pragma once

#include <cstdint>

namespace camshaft::cpu::gemm_int8 {

struct Range {
  float low = 0, high = 0;  // holds zero
};
Range rangeOf(const float* x, int64_t count);

// round(x / scale) + zero, clamped to 0 .. 255; NaN becomes 0.
void quantize(const float* x, int64_t count, float scale, uint8_t zero, uint8_t* to);

}  // namespace camshaft::cpu::gemm_int8
