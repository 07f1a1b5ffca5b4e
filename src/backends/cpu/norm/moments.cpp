#include "backends/cpu/norm/moments.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/moments.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::norm::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, ...
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// One step of a sum: x itself, or the square of its distance from the mean.
struct Plain {
  static HWY_INLINE VF32 add(VF32 total, VF32 x, VF32) { return hn::Add(total, x); }
};
struct Squared {
  static HWY_INLINE VF32 add(VF32 total, VF32 x, VF32 mean) {
    const VF32 distance = hn::Sub(x, mean);
    return hn::MulAdd(distance, distance, total);
  }
};

template <class Step>
HWY_INLINE double sumRow(const float* x, size_t count, float meanValue) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), piece = static_cast<size_t>(kStepsInF32) * 4 * lanes;
  const VF32 mean = hn::Set(d, meanValue);
  double total = 0;
  for (size_t begin = 0; begin < count; begin += piece) {
    const size_t end = count - begin < piece ? count : begin + piece;
    VF32 sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    size_t i = begin;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      sum0 = Step::add(sum0, hn::LoadU(d, x + i), mean);
      sum1 = Step::add(sum1, hn::LoadU(d, x + i + lanes), mean);
      sum2 = Step::add(sum2, hn::LoadU(d, x + i + 2 * lanes), mean);
      sum3 = Step::add(sum3, hn::LoadU(d, x + i + 3 * lanes), mean);
    }
    for (; i + lanes <= end; i += lanes) sum0 = Step::add(sum0, hn::LoadU(d, x + i), mean);
    if (i < end) sum1 = Step::add(sum1, loadFirst(d, x + i, end - i, meanValue), mean);
    // The lanes past the end hold the mean: nothing for squares, and for plain sums it is 0.
    const VF32 sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
    total += hn::GetLane(hn::SumOfLanes(d, sum));
  }
  return total;
}

double sumOf(const float* x, int64_t count) {
  return sumRow<Plain>(x, static_cast<size_t>(count), 0.0f);
}
double squaresOf(const float* x, int64_t count, float mean) {
  return sumRow<Squared>(x, static_cast<size_t>(count), mean);
}

template <class Step>
HWY_INLINE void sumColumns(const float* x, int64_t rows, int64_t stride, size_t columns,
                           const float* means, double* totals) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  alignas(64) float sums[hn::MaxLanes(d)];
  for (size_t c = 0; c < columns; c += lanes) {
    const size_t n = columns - c < lanes ? columns - c : lanes;
    const VF32 mean = means ? loadFirst(d, means + c, n) : hn::Zero(d);
    for (int64_t begin = 0; begin < rows; begin += kStepsInF32) {
      const int64_t end = rows - begin < kStepsInF32 ? rows : begin + kStepsInF32;
      VF32 sum = hn::Zero(d);
      for (int64_t r = begin; r < end; ++r) {
        const float* at = x + r * stride + c;
        sum = Step::add(sum, n == lanes ? hn::LoadU(d, at) : loadFirst(d, at, n), mean);
      }
      hn::Store(sum, d, sums);
      for (size_t i = 0; i < n; ++i) totals[c + i] += sums[i];
    }
  }
}

void sumsOf(const float* x, int64_t rows, int64_t stride, int64_t columns, double* totals) {
  sumColumns<Plain>(x, rows, stride, static_cast<size_t>(columns), nullptr, totals);
}
void squareSumsOf(const float* x, int64_t rows, int64_t stride, int64_t columns, const float* means,
                  double* totals) {
  sumColumns<Squared>(x, rows, stride, static_cast<size_t>(columns), means, totals);
}

void scaleRow(const float* x, float* y, int64_t count, float mean, float factor, const float* scale,
              const float* bias) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(count);
  const VF32 shift = hn::Set(d, mean), times = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= total; i += lanes) {
    VF32 v = hn::Mul(hn::Sub(hn::LoadU(d, x + i), shift), times);
    if (scale) v = hn::Mul(v, hn::LoadU(d, scale + i));
    if (bias) v = hn::Add(v, hn::LoadU(d, bias + i));
    hn::StoreU(v, d, y + i);
  }
  if (i == total) return;
  const size_t n = total - i;
  VF32 v = hn::Mul(hn::Sub(loadFirst(d, x + i, n), shift), times);
  if (scale) v = hn::Mul(v, loadFirst(d, scale + i, n));
  if (bias) v = hn::Add(v, loadFirst(d, bias + i, n));
  storeFirst(v, d, y + i, n);
}

void scaleColumns(const float* x, float* y, int64_t rows, int64_t stride, int64_t columns,
                  const float* means, const float* factors, const float* biases) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(columns);
  for (int64_t r = 0; r < rows; ++r, x += stride, y += stride) {
    size_t c = 0;
    for (; c + lanes <= total; c += lanes) {
      const VF32 v = hn::Sub(hn::LoadU(d, x + c), hn::LoadU(d, means + c));
      hn::StoreU(hn::MulAdd(v, hn::LoadU(d, factors + c), hn::LoadU(d, biases + c)), d, y + c);
    }
    if (c == total) continue;
    const size_t n = total - c;
    const VF32 v = hn::Sub(loadFirst(d, x + c, n), loadFirst(d, means + c, n));
    storeFirst(hn::MulAdd(v, loadFirst(d, factors + c, n), loadFirst(d, biases + c, n)), d, y + c,
               n);
  }
}

}  // namespace camshaft::cpu::norm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::norm {

HWY_EXPORT(sumOf);
HWY_EXPORT(squaresOf);
HWY_EXPORT(sumsOf);
HWY_EXPORT(squareSumsOf);
HWY_EXPORT(scaleRow);
HWY_EXPORT(scaleColumns);

double sumOfRow(const float* x, int64_t count) { return HWY_DYNAMIC_DISPATCH(sumOf)(x, count); }
double squaresOfRow(const float* x, int64_t count, float mean) {
  return HWY_DYNAMIC_DISPATCH(squaresOf)(x, count, mean);
}
void sumOfColumns(const float* x, int64_t rows, int64_t stride, int64_t columns, double* totals) {
  HWY_DYNAMIC_DISPATCH(sumsOf)(x, rows, stride, columns, totals);
}
void squaresOfColumns(const float* x, int64_t rows, int64_t stride, int64_t columns,
                      const float* means, double* totals) {
  HWY_DYNAMIC_DISPATCH(squareSumsOf)(x, rows, stride, columns, means, totals);
}
void normaliseRow(const float* x, float* y, int64_t count, float mean, float factor,
                  const float* scale, const float* bias) {
  HWY_DYNAMIC_DISPATCH(scaleRow)(x, y, count, mean, factor, scale, bias);
}
void normaliseColumns(const float* x, float* y, int64_t rows, int64_t stride, int64_t columns,
                      const float* means, const float* factors, const float* biases) {
  HWY_DYNAMIC_DISPATCH(scaleColumns)(x, y, rows, stride, columns, means, factors, biases);
}

}  // namespace camshaft::cpu::norm
#endif  // HWY_ONCE
