// GEMV: products of one row with a matrix that is read where it lies, for so few queries (decoding)
// that packing keys and values would cost more than it saves.
#pragma once

#include <cstdint>

namespace camshaft::cpu::attention {

// `count` rows of `size` elements, which are float or int8_t.
template <class T>
struct Matrix {
  const T* data = nullptr;
  int64_t count = 0, size = 0;
  int64_t stride = 0;  // elements between rows
};

// y[j] = scale * sum over i of row[i] * matrix[j][i]
void multiplyByRows(const float* row, const Matrix<float>& matrix, float scale, float* y);
void multiplyByRows(const float* row, const Matrix<int8_t>& matrix, float scale, float* y);

// y[i] = scale * sum over j of row[j] * matrix[j][i]
void combineRows(const float* row, const Matrix<float>& matrix, float scale, float* y);
void combineRows(const float* row, const Matrix<int8_t>& matrix, float scale, float* y);

}  // namespace camshaft::cpu::attention
