#include "backends/cpu/gemm_int4/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_int4/blocks.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_int4::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using VF32 = hn::Vec<F32>;
using VI32 = hn::Vec<I32>;

constexpr int64_t kLanes = hn::MaxLanes(F32());

// Sums that grow side by side, so that additions need not wait for each other. Arrays, not structs:
// the constructor that GCC makes for a struct of vectors lacks the target's options on aarch64.
template <int kRows>
constexpr int kChains = kRows == 1 ? 4 : (kRows == 2 ? 2 : 1);

template <int kRows>
using Partial = VF32[kRows][kChains<kRows>];

// Number kIndex of each word by element kIndex of each row, added to the sums.
template <int kRows, int kIndex>
HWY_INLINE void addNumber(VI32 words, const float* a, Partial<kRows>& sums) {
  const F32 d;
  const VF32 number = hn::ConvertTo(d, hn::ShiftRight<28>(hn::ShiftLeft<28 - 4 * kIndex>(words)));
  constexpr int kChain = kIndex % kChains<kRows>;
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    VF32& sum = sums[i][kChain];
    sum = hn::MulAdd(hn::Set(d, a[kIndex * kRows + i]), number, sum);
  }
}

template <int kRows>
HWY_INLINE void addWords(VI32 words, const float* a, Partial<kRows>& sums) {
  addNumber<kRows, 0>(words, a, sums);
  addNumber<kRows, 1>(words, a, sums);
  addNumber<kRows, 2>(words, a, sums);
  addNumber<kRows, 3>(words, a, sums);
  addNumber<kRows, 4>(words, a, sums);
  addNumber<kRows, 5>(words, a, sums);
  addNumber<kRows, 6>(words, a, sums);
  addNumber<kRows, 7>(words, a, sums);
}

// A vector of columns; the pointers are to its first lane.
template <int kRows>
void multiplyLanes(const BlockWeights& weights, const uint32_t* words, const float* scales,
                   const float* zeros, const Rows& rows, float factor, float* to) {
  const F32 d;
  const I32 d32;
  VF32 totals[kRows];
  for (VF32& total : totals) total = hn::Zero(d);
  const float* a = rows.data;
  for (int64_t block = 0; block < weights.blocks; ++block, scales += kPanelColumns) {
    Partial<kRows> sums;
    for (auto& row : sums)
      for (VF32& sum : row) sum = hn::Zero(d);
    for (int64_t k = 0; k < weights.blockSize; k += kWordNumbers) {
      const auto packed = hn::LoadU(d32, reinterpret_cast<const int32_t*>(words));
      addWords<kRows>(packed, a, sums);
      words += kPanelColumns;
      a += kWordNumbers * kRows;
    }
    const VF32 scale = hn::LoadU(d, scales);
    HWY_UNROLL(8)
    for (int i = 0; i < kRows; ++i) {
      VF32 sum = sums[i][0];
      for (int c = 1; c < kChains<kRows>; ++c) sum = hn::Add(sum, sums[i][c]);
      totals[i] = hn::MulAdd(sum, scale, totals[i]);
    }
    if (!zeros) continue;
    const VF32 zero = hn::LoadU(d, zeros + block * kPanelColumns);
    for (int i = 0; i < kRows; ++i)
      totals[i] = hn::NegMulAdd(hn::Set(d, rows.sums[block * kRows + i]), zero, totals[i]);
  }
  for (int i = 0; i < kRows; ++i)
    hn::StoreU(hn::Mul(totals[i], hn::Set(d, factor)), d, to + i * kPanelColumns);
}

using LanesFunction = void (*)(const BlockWeights&, const uint32_t*, const float*, const float*,
                               const Rows&, float, float*);
constexpr LanesFunction kLanesFunctions[kMaxRows] = {
    multiplyLanes<1>, multiplyLanes<2>, multiplyLanes<3>, multiplyLanes<4>,
    multiplyLanes<5>, multiplyLanes<6>, multiplyLanes<7>, multiplyLanes<8>};

void multiplyOnePanel(const BlockWeights& weights, int64_t panel, const Rows& rows, float factor,
                      float* to) {
  const int64_t perColumns = weights.blocks * kPanelColumns;
  for (int64_t lane = 0; lane < kPanelColumns; lane += kLanes)
    kLanesFunctions[rows.count - 1](
        weights, weights.words + panel * weights.depth() * kPanelColumns / kWordNumbers + lane,
        weights.scales + panel * perColumns + lane,
        weights.zeros ? weights.zeros + panel * perColumns + lane : nullptr, rows, factor,
        to + lane);
}

}  // namespace camshaft::cpu::gemm_int4::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_int4 {

HWY_EXPORT(multiplyOnePanel);

void multiplyPanel(const BlockWeights& weights, int64_t panel, const Rows& rows, float factor,
                   float* to) {
  HWY_DYNAMIC_DISPATCH(multiplyOnePanel)(weights, panel, rows, factor, to);
}

}  // namespace camshaft::cpu::gemm_int4
#endif  // HWY_ONCE
