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

HWY_INLINE Vector floatsOf(hn::Vec<hn::Rebind<int8_t, Tag>> bytes) {
  return hn::ConvertTo(Tag(), hn::PromoteTo(hn::Rebind<int32_t, Tag>(), bytes));
}

HWY_INLINE Vector floatsAt(const float* p) { return hn::LoadU(Tag(), p); }
HWY_INLINE Vector floatsAt(const int8_t* p) {
  return floatsOf(hn::LoadU(hn::Rebind<int8_t, Tag>(), p));
}

HWY_INLINE Vector firstFloatsAt(const float* p, size_t n) { return loadFirst(Tag(), p, n); }
HWY_INLINE Vector firstFloatsAt(const int8_t* p, size_t n) {
  return floatsOf(loadFirst(hn::Rebind<int8_t, Tag>(), p, n));
}

// So many sums at a time keep the multipliers busy.
inline constexpr int kSums = 4;

// The products of `row` with kRows rows of the matrix.
template <int kRows, class T>
HWY_INLINE void multiplyRows(const float* row, const T* matrix, int64_t stride, int64_t size,
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
      sums[r] = hn::MulAdd(x, floatsAt(matrix + r * stride + i), sums[r]);
  }
  if (const size_t rest = static_cast<size_t>(size - i)) {
    const Vector x = loadFirst(d, row + i, rest);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
      sums[r] = hn::MulAdd(x, firstFloatsAt(matrix + r * stride + i, rest), sums[r]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) y[r] = scale * hn::GetLane(hn::SumOfLanes(d, sums[r]));
}

template <class T>
void multiplyBy(const float* row, const Matrix<T>& matrix, float scale, float* y) {
  int64_t j = 0;
  for (; j + kSums <= matrix.count; j += kSums)
    multiplyRows<kSums>(row, matrix.data + j * matrix.stride, matrix.stride, matrix.size, scale,
                        y + j);
  for (; j < matrix.count; ++j)
    multiplyRows<1>(row, matrix.data + j * matrix.stride, matrix.stride, matrix.size, scale, y + j);
}

// kVectors vectors of columns from `column` on.
template <int kVectors, class T>
HWY_INLINE void combineColumns(const float* row, const Matrix<T>& matrix, int64_t column,
                               float scale, float* y) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  const T* from = matrix.data + column;
  for (int64_t j = 0; j < matrix.count; ++j, from += matrix.stride) {
    const Vector weight = hn::Set(d, row[j]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[v] = hn::MulAdd(weight, floatsAt(from + v * lanes), sums[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
    hn::StoreU(hn::Mul(sums[v], hn::Set(d, scale)), d, y + column + v * lanes);
}

template <class T>
void combine(const float* row, const Matrix<T>& matrix, float scale, float* y) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + kSums * lanes <= matrix.size; i += kSums * lanes)
    combineColumns<kSums>(row, matrix, i, scale, y);
  for (; i + lanes <= matrix.size; i += lanes) combineColumns<1>(row, matrix, i, scale, y);
  if (const size_t rest = static_cast<size_t>(matrix.size - i)) {
    Vector sum = hn::Zero(d);
    for (int64_t j = 0; j < matrix.count; ++j)
      sum = hn::MulAdd(hn::Set(d, row[j]), firstFloatsAt(matrix.data + j * matrix.stride + i, rest),
                       sum);
    storeFirst(hn::Mul(sum, hn::Set(d, scale)), d, y + i, rest);
  }
}

void multiplyByFloats(const float* row, const Matrix<float>& matrix, float scale, float* y) {
  multiplyBy(row, matrix, scale, y);
}
void multiplyByBytes(const float* row, const Matrix<int8_t>& matrix, float scale, float* y) {
  multiplyBy(row, matrix, scale, y);
}
void combineFloats(const float* row, const Matrix<float>& matrix, float scale, float* y) {
  combine(row, matrix, scale, y);
}
void combineBytes(const float* row, const Matrix<int8_t>& matrix, float scale, float* y) {
  combine(row, matrix, scale, y);
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(multiplyByFloats);
HWY_EXPORT(multiplyByBytes);
HWY_EXPORT(combineFloats);
HWY_EXPORT(combineBytes);

namespace attention {

void multiplyByRows(const float* row, const Matrix<float>& matrix, float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(multiplyByFloats)(row, matrix, scale, y);
}
void multiplyByRows(const float* row, const Matrix<int8_t>& matrix, float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(multiplyByBytes)(row, matrix, scale, y);
}

void combineRows(const float* row, const Matrix<float>& matrix, float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(combineFloats)(row, matrix, scale, y);
}
void combineRows(const float* row, const Matrix<int8_t>& matrix, float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(combineBytes)(row, matrix, scale, y);
}

}  // namespace attention

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
