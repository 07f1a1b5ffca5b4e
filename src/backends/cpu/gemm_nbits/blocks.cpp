#include "backends/cpu/gemm_nbits/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_nbits/blocks.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_nbits::HWY_NAMESPACE {

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
template <int kRows, int kBits, int kIndex>
HWY_INLINE void addNumber(VI32 words, const float* a, Partial<kRows>& sums) {
  const F32 d;
  constexpr int kAbove = 32 - kBits;
  const VF32 number =
      hn::ConvertTo(d, hn::ShiftRight<kAbove>(hn::ShiftLeft<kAbove - kBits * kIndex>(words)));
  constexpr int kChain = kIndex % kChains<kRows>;
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    VF32& sum = sums[i][kChain];
    sum = hn::MulAdd(hn::Set(d, a[kIndex * kRows + i]), number, sum);
  }
}

// All numbers of each word from kIndex on.
template <int kRows, int kBits, int kIndex = 0>
HWY_INLINE void addWords(VI32 words, const float* a, Partial<kRows>& sums) {
  addNumber<kRows, kBits, kIndex>(words, a, sums);
  if constexpr ((kIndex + 1) * kBits < 32) addWords<kRows, kBits, kIndex + 1>(words, a, sums);
}

// A vector of columns; the pointers are to its first lane.
template <int kBits, int kRows>
void multiplyLanes(const BlockWeights& weights, const uint32_t* words, const float* scales,
                   const float* zeros, const Rows& rows, float* to) {
  const F32 d;
  const I32 d32;
  VF32 totals[kRows];
  for (VF32& total : totals) total = hn::Zero(d);
  const float* a = rows.data;
  for (int64_t block = 0; block < weights.blocks; ++block, scales += kPanelColumns) {
    Partial<kRows> sums;
    for (auto& row : sums)
      for (VF32& sum : row) sum = hn::Zero(d);
    constexpr int64_t kNumbers = 32 / kBits;
    for (int64_t k = 0; k < weights.blockSize; k += kNumbers) {
      const auto packed = hn::LoadU(d32, reinterpret_cast<const int32_t*>(words));
      addWords<kRows, kBits>(packed, a, sums);
      words += kPanelColumns;
      a += kNumbers * kRows;
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
  for (int i = 0; i < kRows; ++i) hn::StoreU(totals[i], d, to + i * kPanelColumns);
}

using LanesFunction = void (*)(const BlockWeights&, const uint32_t*, const float*, const float*,
                               const Rows&, float*);
template <int kBits>
constexpr LanesFunction kLanesFunctions[kMaxRows] = {
    multiplyLanes<kBits, 1>, multiplyLanes<kBits, 2>, multiplyLanes<kBits, 3>,
    multiplyLanes<kBits, 4>, multiplyLanes<kBits, 5>, multiplyLanes<kBits, 6>,
    multiplyLanes<kBits, 7>, multiplyLanes<kBits, 8>};

LanesFunction lanesFunction(int64_t bits, int64_t rows) {
  if (bits == 2) return kLanesFunctions<2>[rows - 1];
  return bits == 4 ? kLanesFunctions<4>[rows - 1] : kLanesFunctions<8>[rows - 1];
}

void multiplyOnePanel(const BlockWeights& weights, int64_t panel, const Rows& rows, float* to) {
  const int64_t perColumns = weights.blocks * kPanelColumns;
  const int64_t perPanel = weights.depth() * kPanelColumns / weights.wordNumbers();
  const LanesFunction multiply = lanesFunction(weights.bits, rows.count);
  for (int64_t lane = 0; lane < kPanelColumns; lane += kLanes)
    multiply(weights, weights.words + panel * perPanel + lane,
             weights.scales + panel * perColumns + lane,
             weights.zeros ? weights.zeros + panel * perColumns + lane : nullptr, rows, to + lane);
}

}  // namespace camshaft::cpu::gemm_nbits::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_nbits {

HWY_EXPORT(multiplyOnePanel);

void multiplyPanel(const BlockWeights& weights, int64_t panel, const Rows& rows, float* to) {
  HWY_DYNAMIC_DISPATCH(multiplyOnePanel)(weights, panel, rows, to);
}

}  // namespace camshaft::cpu::gemm_nbits
#endif  // HWY_ONCE
