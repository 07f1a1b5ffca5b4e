#include "backends/cpu/sample/weighted_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sample/weighted_rows.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::sample::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, storeFirst
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

template <int kRows>
void sumOf(const WeightedRow* rows, bool adds, float* to, int64_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(count);
  const auto sum = [&](VF32 sum, auto load) HWY_ATTR {
    for (int r = 0; r < kRows; ++r)
      sum = hn::MulAdd(load(rows[r].row), hn::Set(d, rows[r].weight), sum);
    return sum;
  };
  size_t i = 0;
  for (; i + lanes <= total; i += lanes)
    hn::StoreU(sum(adds ? hn::LoadU(d, to + i) : hn::Zero(d),
                   [&](const float* row) HWY_ATTR { return hn::LoadU(d, row + i); }),
               d, to + i);
  if (i == total) return;
  const size_t n = total - i;
  storeFirst(sum(adds ? loadFirst(d, to + i, n) : hn::Zero(d),
                 [&](const float* row) HWY_ATTR { return loadFirst(d, row + i, n); }),
             d, to + i, n);
}

void rowsInOne(const WeightedRow* rows, int number, bool adds, float* to, int64_t count) {
  switch (number) {
    case 0:
      return sumOf<0>(rows, adds, to, count);
    case 1:
      return sumOf<1>(rows, adds, to, count);
    case 2:
      return sumOf<2>(rows, adds, to, count);
    case 3:
      return sumOf<3>(rows, adds, to, count);
    default:
      return sumOf<kRowsAtOnce>(rows, adds, to, count);
  }
}

void tapsInOne(const float* row, const int32_t* places, const float* weights, int64_t taps,
               float* to, int64_t count) {
  const F32 d;
  const hn::RebindToSigned<F32> integers;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(count);
  // One position after the other where they fill no vector.
  size_t i = 0;
  for (; i + lanes <= total; i += lanes) {
    VF32 sum = hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t) {
      const size_t at = static_cast<size_t>(t) * total + i;
      const VF32 weight = hn::LoadU(d, weights + at);
      const auto place = hn::Max(hn::LoadU(integers, places + at), hn::Zero(integers));
      const VF32 x = hn::GatherIndex(d, row, place);
      sum = hn::MulAdd(weight, hn::IfThenElseZero(hn::Ne(weight, hn::Zero(d)), x), sum);
    }
    hn::StoreU(sum, d, to + i);
  }
  for (; i < total; ++i) {
    float sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const size_t at = static_cast<size_t>(t) * total + i;
      if (weights[at] != 0) sum += weights[at] * row[places[at]];
    }
    to[i] = sum;
  }
}

}  // namespace camshaft::cpu::sample::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::sample {

HWY_EXPORT(rowsInOne);
HWY_EXPORT(tapsInOne);

void sumRows(const WeightedRow* rows, int number, bool adds, float* to, int64_t count) {
  HWY_DYNAMIC_DISPATCH(rowsInOne)(rows, number, adds, to, count);
}

void sumTaps(const float* row, const int32_t* places, const float* weights, int64_t taps, float* to,
             int64_t count) {
  HWY_DYNAMIC_DISPATCH(tapsInOne)(row, places, weights, taps, to, count);
}

}  // namespace camshaft::cpu::sample
#endif  // HWY_ONCE
