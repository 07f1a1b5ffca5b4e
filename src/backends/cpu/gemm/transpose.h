// Matrix transposition.
#pragma once

#include <cstdint>

namespace camshaft::cpu {

// to[j][i] = from[i][j] for rows x columns values of `from`; strides are floats between rows.
void transpose(const float* from, int64_t fromStride, int64_t rows, int64_t columns, float* to,
               int64_t toStride);

}  // namespace camshaft::cpu
