// Reductions of rows and columns in f32. Sums run in f32 vectors for a few hundred steps, then
// those partial sums are added up in f64.
#pragma once

#include <cmath>
#include <cstdint>

#include "support/half.h"

namespace camshaft::cpu::reduce {

enum class Kind : int32_t { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum };

inline constexpr int64_t kColumnBlock = 64;  // columns at most in one call
inline constexpr int64_t kStepsInF32 = 256;  // rows at most in one call of columns

double identityOf(Kind kind);
// Of two partial results.
inline double combine(Kind kind, double a, double b) {
  switch (kind) {
    case Kind::kMax:
      return b > a || b != b ? b : a;
    case Kind::kMin:
      return b < a || b != b ? b : a;
    case Kind::kProd:
      return a * b;
    default:
      return a + b;
  }
}
inline double finish(Kind kind, double total, int64_t count) {
  switch (kind) {
    case Kind::kMean:
      return total / static_cast<double>(count);
    case Kind::kL2:
      return std::sqrt(total);
    case Kind::kLogSum:
      return std::log(total);
    default:
      return total;
  }
}

// Partial result of a row, without finish().
double reduceRow(Kind kind, const float* x, int64_t count);
// totals[c] = combine(totals[c], partial result of column c), for rows that lie `stride` apart.
void reduceColumns(Kind kind, const float* x, int64_t rows, int64_t stride, int64_t columns,
                   double* totals);
void reduceColumns(Kind kind, const BFloat16* x, int64_t rows, int64_t stride, int64_t columns,
                   double* totals);

}  // namespace camshaft::cpu::reduce
