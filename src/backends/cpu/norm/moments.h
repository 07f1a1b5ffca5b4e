// Means, variances and the scaling that follows, over rows and over columns, in f32.
#pragma once

#include <cstdint>

namespace camshaft::cpu::norm {

inline constexpr int64_t kColumnBlock = 64;  // columns at most in one call
inline constexpr int64_t kStepsInF32 = 256;  // rows that sums run in f32 for

double sumOfRow(const float* x, int64_t count);
double squaresOfRow(const float* x, int64_t count, float mean);  // sum of (x - mean)^2
// totals[c] += the same for column c; `means` holds one mean per column.
void sumOfColumns(const float* x, int64_t rows, int64_t stride, int64_t columns, double* totals);
void squaresOfColumns(const float* x, int64_t rows, int64_t stride, int64_t columns,
                      const float* means, double* totals);

// y = (x - mean) * factor * scale + bias; scale and bias may be null.
void normaliseRow(const float* x, float* y, int64_t count, float mean, float factor,
                  const float* scale, const float* bias);
// y = (x - means[c]) * factors[c] + biases[c]
void normaliseColumns(const float* x, float* y, int64_t rows, int64_t stride, int64_t columns,
                      const float* means, const float* factors, const float* biases);

}  // namespace camshaft::cpu::norm
