// Softmax of rows and of columns in f32.
#pragma once

#include <cstdint>

namespace camshaft::cpu::softmax {

// y may be x.
void softmaxRow(const float* x, float* y, int64_t count, bool logarithm);
// Down each of `columns` neighbouring columns, `size` elements `stride` apart.
void softmaxColumns(const float* x, float* y, int64_t size, int64_t stride, int64_t columns,
                    bool logarithm);

inline constexpr int64_t kColumnBlock = 64;  // columns at most in one call

}  // namespace camshaft::cpu::softmax
