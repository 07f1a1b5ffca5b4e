#include "backends/cpu/attention/gemv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/attention/gemv.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

using attention::Matrix;
using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// So many sums at a time keep the multipliers busy.
inline constexpr int kSums = 4;

// The products of `row` with kRows rows of the matrix.
template <int kRows>
HWY_INLINE void multiplyRows(const float* row, const float* matrix, int64_t stride, int64_t size,
                             float scale, float* y) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector sums[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const Vector x = hn::LoadU(d, row + i);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
      sums[r] = hn::MulAdd(x, hn::LoadU(d, matrix + r * stride + i), sums[r]);
  }
  if (const size_t rest = static_cast<size_t>(size - i)) {
    const Vector x = loadFirst(d, row + i, rest);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
      sums[r] = hn::MulAdd(x, loadFirst(d, matrix + r * stride + i, rest), sums[r]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) y[r] = scale * hn::GetLane(hn::SumOfLanes(d, sums[r]));
}

void multiplyByRows(const float* row, const Matrix& matrix, float scale, float* y) {
  int64_t j = 0;
  for (; j + kSums <= matrix.count; j += kSums)
    multiplyRows<kSums>(row, matrix.data + j * matrix.stride, matrix.stride, matrix.size, scale,
                        y + j);
  for (; j < matrix.count; ++j)
    multiplyRows<1>(row, matrix.data + j * matrix.stride, matrix.stride, matrix.size, scale, y + j);
}

// kVectors vectors of columns from `column` on.
template <int kVectors>
HWY_INLINE void combineColumns(const float* row, const Matrix& matrix, int64_t column, float scale,
                               float* y) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  const float* from = matrix.data + column;
  for (int64_t j = 0; j < matrix.count; ++j, from += matrix.stride) {
    const Vector weight = hn::Set(d, row[j]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[v] = hn::MulAdd(weight, hn::LoadU(d, from + v * lanes), sums[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
    hn::StoreU(hn::Mul(sums[v], hn::Set(d, scale)), d, y + column + v * lanes);
}

void combineRows(const float* row, const Matrix& matrix, float scale, float* y) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + kSums * lanes <= matrix.size; i += kSums * lanes)
    combineColumns<kSums>(row, matrix, i, scale, y);
  for (; i + lanes <= matrix.size; i += lanes) combineColumns<1>(row, matrix, i, scale, y);
  if (const size_t rest = static_cast<size_t>(matrix.size - i)) {
    Vector sum = hn::Zero(d);
    for (int64_t j = 0; j < matrix.count; ++j)
      sum = hn::MulAdd(hn::Set(d, row[j]), loadFirst(d, matrix.data + j * matrix.stride + i, rest),
                       sum);
    storeFirst(hn::Mul(sum, hn::Set(d, scale)), d, y + i, rest);
  }
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(multiplyByRows);
HWY_EXPORT(combineRows);

void attention::multiplyByRows(const float* row, const Matrix& matrix, float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(multiplyByRows)(row, matrix, scale, y);
}

void attention::combineRows(const float* row, const Matrix& matrix, float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(combineRows)(row, matrix, scale, y);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
