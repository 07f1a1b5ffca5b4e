#include "backends/cpu/gemm/transpose.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/transpose.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void transposeScalar(const float* from, int64_t fromStride, int64_t rows, int64_t columns,
                     float* to, int64_t toStride) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * toStride + i] = from[i * fromStride + j];
  }
}

#if HWY_TARGET != HWY_SCALAR
HWY_INLINE void transpose4x4(const float* from, int64_t fromStride, float* to, int64_t toStride) {
  const hn::CappedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + fromStride);
  const auto c = hn::LoadU(d, from + 2 * fromStride), e = hn::LoadU(d, from + 3 * fromStride);
  const auto ab01 = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));  // a0 b0 | a1 b1
  const auto ab23 = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce01 = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto ce23 = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab01, ce01)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab01, ce01)), d, to + toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab23, ce23)), d, to + 2 * toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab23, ce23)), d, to + 3 * toStride);
}
#endif

void transposeBlocks(const float* from, int64_t fromStride, int64_t rows, int64_t columns,
                     float* to, int64_t toStride) {
#if HWY_TARGET == HWY_SCALAR
  transposeScalar(from, fromStride, rows, columns, to, toStride);
#else
  // Strips as wide as a cache line of `from` keep the lines of both sides at hand.
  constexpr int64_t kStrip = 16;
  const int64_t wholeRows = rows / 4 * 4, wholeColumns = columns / 4 * 4;
  for (int64_t j0 = 0; j0 < wholeColumns; j0 += kStrip) {
    const int64_t j1 = std::min(wholeColumns, j0 + kStrip);
    for (int64_t i = 0; i < wholeRows; i += 4) {
      for (int64_t j = j0; j < j1; j += 4) {
        transpose4x4(from + i * fromStride + j, fromStride, to + j * toStride + i, toStride);
      }
    }
  }
  transposeScalar(from + wholeColumns, fromStride, wholeRows, columns - wholeColumns,
                  to + wholeColumns * toStride, toStride);
  transposeScalar(from + wholeRows * fromStride, fromStride, rows - wholeRows, columns,
                  to + wholeRows, toStride);
#endif
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(transposeBlocks);

void transpose(const float* from, int64_t fromStride, int64_t rows, int64_t columns, float* to,
               int64_t toStride) {
  HWY_DYNAMIC_DISPATCH(transposeBlocks)(from, fromStride, rows, columns, to, toStride);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
