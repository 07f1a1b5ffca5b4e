#include "backends/cpu/reduce/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/rows.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/bf16-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::reduce::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, ...
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// One accumulation step per kind, its neutral element, and how lanes come together at the end: as
// those of kJoined do, which is known when this is compiled.
struct SumStep {
  static constexpr Kind kJoined = Kind::kSum;
  static constexpr float kNeutral = 0;
  template <class V>
  static HWY_INLINE V add(V total, V x) {
    return hn::Add(total, x);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Add(a, b);
  }
};
struct AbsoluteStep : SumStep {
  template <class V>
  static HWY_INLINE V add(V total, V x) {
    return hn::Add(total, hn::Abs(x));
  }
};
struct SquareStep : SumStep {
  template <class V>
  static HWY_INLINE V add(V total, V x) {
    return hn::MulAdd(x, x, total);
  }
};
struct ProductStep {
  static constexpr Kind kJoined = Kind::kProd;
  static constexpr float kNeutral = 1;
  template <class V>
  static HWY_INLINE V add(V total, V x) {
    return hn::Mul(total, x);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Mul(a, b);
  }
};
// NaN wins.
struct MaxStep {
  static constexpr Kind kJoined = Kind::kMax;
  static constexpr float kNeutral = -std::numeric_limits<float>::infinity();
  template <class V>
  static HWY_INLINE V add(V total, V x) {
    return hn::IfThenElse(hn::Or(hn::Gt(x, total), hn::IsNaN(x)), x, total);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return add(a, b);
  }
};
struct MinStep {
  static constexpr Kind kJoined = Kind::kMin;
  static constexpr float kNeutral = std::numeric_limits<float>::infinity();
  template <class V>
  static HWY_INLINE V add(V total, V x) {
    return hn::IfThenElse(hn::Or(hn::Lt(x, total), hn::IsNaN(x)), x, total);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return add(a, b);
  }
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
double row(const float* x, int64_t count) {
  const F32 d;
  const size_t used = std::min(hn::Lanes(d), static_cast<size_t>(count));
  const int64_t piece = kStepsInF32 * 4 * static_cast<int64_t>(hn::Lanes(d));
  alignas(64) float lanes[hn::MaxLanes(d)];
  double total = identityOf(Step::kJoined);
  for (int64_t i = 0; i < count; i += piece) {
    hn::Store(accumulate<Step>(x + i, static_cast<size_t>(count - i < piece ? count - i : piece)),
              d, lanes);
    for (size_t lane = 0; lane < used; ++lane) total = combine(Step::kJoined, total, lanes[lane]);
  }
  return total;
}

// As many whole vectors of columns as fit, from `column` on; narrower ones follow. T is f32 or
// bf16.
template <class Step, class D, class T>
HWY_INLINE int64_t columnVectors(D d, const T* x, int64_t rows, int64_t stride, int64_t columns,
                                 int64_t column, double* totals) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  alignas(64) float results[kLanes];
  for (; column + kLanes <= columns; column += kLanes) {
    hn::Vec<D> total0 = hn::Set(d, Step::kNeutral), total1 = total0, total2 = total0,
               total3 = total0;
    const T* from = x + column;
    int64_t row = 0;
    for (; row + 4 <= rows; row += 4, from += 4 * stride) {
      total0 = Step::add(total0, loadF32(d, from));
      total1 = Step::add(total1, loadF32(d, from + stride));
      total2 = Step::add(total2, loadF32(d, from + 2 * stride));
      total3 = Step::add(total3, loadF32(d, from + 3 * stride));
    }
    for (; row < rows; ++row, from += stride) total0 = Step::add(total0, loadF32(d, from));
    hn::Store(Step::join(Step::join(total0, total1), Step::join(total2, total3)), d, results);
    for (int64_t i = 0; i < kLanes; ++i)
      totals[column + i] = combine(Step::kJoined, totals[column + i], results[i]);
  }
  return column;
}

template <class Step, class T>
void columns(const T* x, int64_t rows, int64_t stride, int64_t count, double* totals) {
  const hn::CappedTag<float, 8> eight;
  const hn::CappedTag<float, 4> four;
  int64_t column = columnVectors<Step>(F32(), x, rows, stride, count, 0, totals);
  column = columnVectors<Step>(eight, x, rows, stride, count, column, totals);
  column = columnVectors<Step>(four, x, rows, stride, count, column, totals);
  columnVectors<Step>(hn::CappedTag<float, 1>(), x, rows, stride, count, column, totals);
}

double rowOf(Kind kind, const float* x, int64_t count) {
  switch (kind) {
    case Kind::kMax:
      return row<MaxStep>(x, count);
    case Kind::kMin:
      return row<MinStep>(x, count);
    case Kind::kProd:
      return row<ProductStep>(x, count);
    case Kind::kL1:
      return row<AbsoluteStep>(x, count);
    case Kind::kL2:
    case Kind::kSumSquare:
      return row<SquareStep>(x, count);
    default:
      return row<SumStep>(x, count);
  }
}

template <class T>
void columnsOfAny(Kind kind, const T* x, int64_t rows, int64_t stride, int64_t count,
                  double* totals) {
  switch (kind) {
    case Kind::kMax:
      return columns<MaxStep>(x, rows, stride, count, totals);
    case Kind::kMin:
      return columns<MinStep>(x, rows, stride, count, totals);
    case Kind::kProd:
      return columns<ProductStep>(x, rows, stride, count, totals);
    case Kind::kL1:
      return columns<AbsoluteStep>(x, rows, stride, count, totals);
    case Kind::kL2:
    case Kind::kSumSquare:
      return columns<SquareStep>(x, rows, stride, count, totals);
    default:
      return columns<SumStep>(x, rows, stride, count, totals);
  }
}

void columnsOf(Kind kind, const float* x, int64_t rows, int64_t stride, int64_t count,
               double* totals) {
  columnsOfAny(kind, x, rows, stride, count, totals);
}
void columnsOfBf16(Kind kind, const BFloat16* x, int64_t rows, int64_t stride, int64_t count,
                   double* totals) {
  columnsOfAny(kind, x, rows, stride, count, totals);
}

}  // namespace camshaft::cpu::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::reduce {

HWY_EXPORT(rowOf);
HWY_EXPORT(columnsOf);
HWY_EXPORT(columnsOfBf16);

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

double reduceRow(Kind kind, const float* x, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(rowOf)(kind, x, count);
}

void reduceColumns(Kind kind, const float* x, int64_t rows, int64_t stride, int64_t count,
                   double* totals) {
  HWY_DYNAMIC_DISPATCH(columnsOf)(kind, x, rows, stride, count, totals);
}

void reduceColumns(Kind kind, const BFloat16* x, int64_t rows, int64_t stride, int64_t count,
                   double* totals) {
  HWY_DYNAMIC_DISPATCH(columnsOfBf16)(kind, x, rows, stride, count, totals);
}

}  // namespace camshaft::cpu::reduce
#endif  // HWY_ONCE
