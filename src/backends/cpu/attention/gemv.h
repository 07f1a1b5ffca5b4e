// GEMV: products of one row with a matrix that is read where it lies, for so few queries (decoding)
// that packing keys and values would cost more than it saves.
#pragma once

#include <cstdint>

namespace camshaft::cpu::attention {

// `count` rows of `size` floats.
struct Matrix {
  const float* data = nullptr;
  int64_t count = 0, size = 0;
  int64_t stride = 0;  // floats between rows
};

// y[j] = scale * sum over i of row[i] * matrix[j][i]
void multiplyByRows(const float* row, const Matrix& matrix, float scale, float* y);

// y[i] = scale * sum over j of row[j] * matrix[j][i]
void combineRows(const float* row, const Matrix& matrix, float scale, float* y);

}  // namespace camshaft::cpu::attention
