// Blocks of columns of a second operand that only the run knows: eight rows of it at a time.
#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm_int8/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_int8/pack_block.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void packColumnsOfBlock(const Layout& layout, int64_t k, int64_t n, const uint8_t* b,
                        int64_t column, uint8_t flip, uint8_t* block, int32_t* sums) {
  packBlockPlainly(layout, k, b + column, n, 1, std::min(kBlockColumns, n - column), flip, block,
                   sums);
}

#else

namespace hn = hwy::HWY_NAMESPACE;
using Bytes = hn::FixedTag<uint8_t, 16>;
using Totals = hn::FixedTag<int32_t, 4>;
using VBytes = hn::Vec<Bytes>;

constexpr int64_t kRows = 8, kLanes = 16;
static_assert(kPairs.depth == kRows && kQuads.depth % kRows == 0 && kPanels.depth % kRows == 0);

// The lower and the upper lanes of v, twice as wide.
template <class Wide, class V>
HWY_INLINE hn::Vec<Wide> lower(Wide wide, V v) {
  return hn::PromoteTo(wide, hn::LowerHalf(v));
}
template <class Wide, class V>
HWY_INLINE hn::Vec<Wide> upper(Wide wide, V v) {
  using Narrow = hn::DFromV<V>;
  const hn::Half<Narrow> half;
  return hn::PromoteTo(wide, hn::UpperHalf(half, v));
}

// Adds up eight rows of sixteen columns, as i8.
HWY_INLINE void addRows(const VBytes (&rows)[kRows], int32_t* sums) {
  const hn::RebindToSigned<Bytes> bytes;
  const hn::FixedTag<int16_t, 8> words;
  auto left = hn::Zero(words), right = hn::Zero(words);
  for (const VBytes& row : rows) {
    left = hn::Add(left, lower(words, hn::BitCast(bytes, row)));
    right = hn::Add(right, upper(words, hn::BitCast(bytes, row)));
  }
  const Totals d;
  const hn::Vec<Totals> totals[4] = {lower(d, left), upper(d, left), lower(d, right),
                                     upper(d, right)};
  for (int i = 0; i < 4; ++i)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + 4 * i), totals[i]), d, sums + 4 * i);
}

// Four rows of sixteen columns as sixteen columns of four.
HWY_INLINE void interleave(VBytes a, VBytes b, VBytes c, VBytes d, VBytes (&columns)[4]) {
  const Bytes bytes;
  const VBytes acLow = hn::InterleaveLower(bytes, a, c), acHigh = hn::InterleaveUpper(bytes, a, c);
  const VBytes bdLow = hn::InterleaveLower(bytes, b, d), bdHigh = hn::InterleaveUpper(bytes, b, d);
  columns[0] = hn::InterleaveLower(bytes, acLow, bdLow);
  columns[1] = hn::InterleaveUpper(bytes, acLow, bdLow);
  columns[2] = hn::InterleaveLower(bytes, acHigh, bdHigh);
  columns[3] = hn::InterleaveUpper(bytes, acHigh, bdHigh);
}

// Rows `first` and the seven after it of sixteen columns, where they lie in a block of so many
// steps; `half` is 0 for its left columns and 1 for its right ones.
HWY_INLINE void storeRows(const Layout& layout, const VBytes (&rows)[kRows], int64_t first,
                          int64_t steps, int64_t half, uint8_t* block) {
  const Bytes bytes;
  VBytes first4[4], last4[4];
  interleave(rows[0], rows[1], rows[2], rows[3], first4);
  interleave(rows[4], rows[5], rows[6], rows[7], last4);
  if (layout.kind == Layout::Kind::kPairs) {
    const hn::Repartition<uint32_t, Bytes> quads;
    uint8_t* to = block + (half * 2 * steps + first / kRows) * 64;
    for (int i = 0; i < 4; ++i) {
      const auto up = hn::BitCast(quads, first4[i]), low = hn::BitCast(quads, last4[i]);
      uint8_t* panel = to + i / 2 * steps * 64 + i % 2 * 32;
      hn::StoreU(hn::BitCast(bytes, hn::InterleaveLower(quads, up, low)), bytes, panel);
      hn::StoreU(hn::BitCast(bytes, hn::InterleaveUpper(quads, up, low)), bytes, panel + kLanes);
    }
    return;
  }
  uint8_t* to = block + (layout.kind == Layout::Kind::kPanels
                             ? half * steps * 256 + first / 4 * 64
                             : (first / 64 * 2 + half) * 1024 + first % 64 / 4 * 64);
  for (int i = 0; i < 4; ++i) {
    hn::StoreU(first4[i], bytes, to + i * kLanes);
    hn::StoreU(last4[i], bytes, to + 64 + i * kLanes);
  }
}

void packColumnsOfBlock(const Layout& layout, int64_t k, int64_t n, const uint8_t* b,
                        int64_t column, uint8_t flip, uint8_t* block, int32_t* sums) {
  const Bytes bytes;
  const int64_t columns = std::min(kBlockColumns, n - column), steps = layout.steps(k);
  const auto flips = hn::Set(bytes, flip);
  std::fill(sums, sums + kBlockColumns, 0);
  uint8_t filled[kRows][kBlockColumns];  // beyond k and n there are zeros, also flipped
  for (int64_t first = 0; first < steps * layout.depth; first += kRows) {
    const uint8_t* from = b + first * n + column;
    int64_t stride = n;
    if (columns < kBlockColumns || first + kRows > k) {
      std::memset(filled, flip, sizeof filled);
      for (int64_t i = 0; i < std::min(kRows, k - first); ++i)
        std::memcpy(filled[i], from + i * n, columns);
      from = filled[0];
      stride = kBlockColumns;
    }
    for (int64_t half = 0; half < 2; ++half) {
      VBytes rows[kRows];
      for (int64_t i = 0; i < kRows; ++i)
        rows[i] = hn::Xor(hn::LoadU(bytes, from + i * stride + half * kLanes), flips);
      addRows(rows, sums + half * kLanes);
      storeRows(layout, rows, first, steps, half, block);
    }
  }
}

#endif

}  // namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_int8 {

HWY_EXPORT(packColumnsOfBlock);

void packBlock(const Layout& layout, int64_t k, int64_t n, const uint8_t* b, int64_t column,
               uint8_t flip, uint8_t* block, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(packColumnsOfBlock)(layout, k, n, b, column, flip, block, sums);
}

}  // namespace camshaft::cpu::gemm_int8
#endif  // HWY_ONCE
