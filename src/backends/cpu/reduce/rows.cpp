#include "backends/cpu/reduce/rows.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/rows.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::reduce::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, ...
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// One accumulation step per kind, its neutral element, and how lanes come together at the end.
struct SumStep {
  static constexpr float kNeutral = 0;
  static HWY_INLINE VF32 add(VF32 total, VF32 x) { return hn::Add(total, x); }
  static HWY_INLINE VF32 join(VF32 a, VF32 b) { return hn::Add(a, b); }
};
struct AbsoluteStep : SumStep {
  static HWY_INLINE VF32 add(VF32 total, VF32 x) { return hn::Add(total, hn::Abs(x)); }
};
struct SquareStep : SumStep {
  static HWY_INLINE VF32 add(VF32 total, VF32 x) { return hn::MulAdd(x, x, total); }
};
struct ProductStep {
  static constexpr float kNeutral = 1;
  static HWY_INLINE VF32 add(VF32 total, VF32 x) { return hn::Mul(total, x); }
  static HWY_INLINE VF32 join(VF32 a, VF32 b) { return hn::Mul(a, b); }
};
// NaN wins.
struct MaxStep {
  static constexpr float kNeutral = -std::numeric_limits<float>::infinity();
  static HWY_INLINE VF32 add(VF32 total, VF32 x) {
    return hn::IfThenElse(hn::Or(hn::Gt(x, total), hn::IsNaN(x)), x, total);
  }
  static HWY_INLINE VF32 join(VF32 a, VF32 b) { return add(a, b); }
};
struct MinStep {
  static constexpr float kNeutral = std::numeric_limits<float>::infinity();
  static HWY_INLINE VF32 add(VF32 total, VF32 x) {
    return hn::IfThenElse(hn::Or(hn::Lt(x, total), hn::IsNaN(x)), x, total);
  }
  static HWY_INLINE VF32 join(VF32 a, VF32 b) { return add(a, b); }
};

// Elements [0, count) into partial results of the lanes.
template <class Step>
HWY_INLINE VF32 accumulate(const float* x, size_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  VF32 total0 = hn::Set(d, Step::kNeutral), total1 = total0, total2 = total0, total3 = total0;
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    total0 = Step::add(total0, hn::LoadU(d, x + i));
    total1 = Step::add(total1, hn::LoadU(d, x + i + lanes));
    total2 = Step::add(total2, hn::LoadU(d, x + i + 2 * lanes));
    total3 = Step::add(total3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) total0 = Step::add(total0, hn::LoadU(d, x + i));
  if (i < count) total1 = Step::add(total1, loadFirst(d, x + i, count - i, Step::kNeutral));
  return Step::join(Step::join(total0, total1), Step::join(total2, total3));
}

template <class Step>
double row(Kind kind, const float* x, int64_t count) {
  const F32 d;
  const int64_t piece = kStepsInF32 * 4 * static_cast<int64_t>(hn::Lanes(d));
  alignas(64) float lanes[hn::MaxLanes(d)];
  double total = identityOf(kind);
  for (int64_t i = 0; i < count; i += piece) {
    hn::Store(accumulate<Step>(x + i, static_cast<size_t>(count - i < piece ? count - i : piece)),
              d, lanes);
    for (size_t lane = 0; lane < hn::Lanes(d); ++lane) total = combine(kind, total, lanes[lane]);
  }
  return total;
}

template <class Step>
HWY_INLINE void columnVectors(Kind kind, const float* x, int64_t rows, int64_t stride,
                              size_t columns, double* totals) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  alignas(64) float results[hn::MaxLanes(d)];
  for (size_t c = 0; c < columns; c += lanes) {
    const size_t n = columns - c < lanes ? columns - c : lanes;
    VF32 total0 = hn::Set(d, Step::kNeutral), total1 = total0;
    int64_t r = 0;
    if (n == lanes) {
      for (; r + 2 <= rows; r += 2) {
        total0 = Step::add(total0, hn::LoadU(d, x + r * stride + c));
        total1 = Step::add(total1, hn::LoadU(d, x + (r + 1) * stride + c));
      }
    }
    for (; r < rows; ++r)
      total0 = Step::add(total0, loadFirst(d, x + r * stride + c, n, Step::kNeutral));
    hn::Store(Step::join(total0, total1), d, results);
    for (size_t i = 0; i < n; ++i) totals[c + i] = combine(kind, totals[c + i], results[i]);
  }
}

template <class Step>
void columns(Kind kind, const float* x, int64_t rows, int64_t stride, int64_t count,
             double* totals) {
  columnVectors<Step>(kind, x, rows, stride, static_cast<size_t>(count), totals);
}

double rowOf(Kind kind, const float* x, int64_t count) {
  switch (kind) {
    case Kind::kMax:
      return row<MaxStep>(kind, x, count);
    case Kind::kMin:
      return row<MinStep>(kind, x, count);
    case Kind::kProd:
      return row<ProductStep>(kind, x, count);
    case Kind::kL1:
      return row<AbsoluteStep>(kind, x, count);
    case Kind::kL2:
    case Kind::kSumSquare:
      return row<SquareStep>(kind, x, count);
    default:
      return row<SumStep>(kind, x, count);
  }
}

void columnsOf(Kind kind, const float* x, int64_t rows, int64_t stride, int64_t count,
               double* totals) {
  switch (kind) {
    case Kind::kMax:
      return columns<MaxStep>(kind, x, rows, stride, count, totals);
    case Kind::kMin:
      return columns<MinStep>(kind, x, rows, stride, count, totals);
    case Kind::kProd:
      return columns<ProductStep>(kind, x, rows, stride, count, totals);
    case Kind::kL1:
      return columns<AbsoluteStep>(kind, x, rows, stride, count, totals);
    case Kind::kL2:
    case Kind::kSumSquare:
      return columns<SquareStep>(kind, x, rows, stride, count, totals);
    default:
      return columns<SumStep>(kind, x, rows, stride, count, totals);
  }
}

}  // namespace camshaft::cpu::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::reduce {

HWY_EXPORT(rowOf);
HWY_EXPORT(columnsOf);

double identityOf(Kind kind) {
  switch (kind) {
    case Kind::kMax:
      return -std::numeric_limits<double>::infinity();
    case Kind::kMin:
      return std::numeric_limits<double>::infinity();
    case Kind::kProd:
      return 1;
    default:
      return 0;
  }
}

double combine(Kind kind, double a, double b) {
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

double finish(Kind kind, double total, int64_t count) {
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

double reduceRow(Kind kind, const float* x, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(rowOf)(kind, x, count);
}

void reduceColumns(Kind kind, const float* x, int64_t rows, int64_t stride, int64_t count,
                   double* totals) {
  HWY_DYNAMIC_DISPATCH(columnsOf)(kind, x, rows, stride, count, totals);
}

}  // namespace camshaft::cpu::reduce
#endif  // HWY_ONCE
