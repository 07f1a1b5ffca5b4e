#include <algorithm>

#include "backends/cpu/gemm_int8/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_int8/tile_vector.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kDepth = kQuads.depth, kStripRows = kQuads.stripRows;
// The quads of 16 columns: half a step of a block of B.
constexpr int64_t kHalfBytes = kDepth * 16;

#if HWY_TARGET == HWY_SCALAR

void multiplyBlock(const Block& block) {
  for (int64_t row = 0; row < block.rows; ++row) {
    const uint8_t* a =
        block.a + row / kStripRows * kQuads.stripBytes(block.k) + row % kStripRows * kDepth;
    for (int64_t column = 0; column < kBlockColumns; ++column) {
      const int8_t* b = block.b + column / 16 * kHalfBytes + column % 16 * 4;
      uint32_t sum = 0;
      for (int64_t k = 0; k < block.k; ++k) {
        const int64_t step = k / kDepth, inStep = k % kDepth;
        sum += static_cast<uint32_t>(a[step * kStripRows * kDepth + inStep] *
                                     b[step * 2 * kHalfBytes + inStep / 4 * 64 + inStep % 4]);
      }
      block.sums[row * kBlockColumns + column] = static_cast<int32_t>(sum);
    }
  }
}

#else

// Without instructions for sums of four byte products: even and odd bytes apart, as 16 bits, whose
// products are added in pairs.
using I32 = hn::ScalableTag<int32_t>;
using I16 = hn::Repartition<int16_t, I32>;
using U16 = hn::Repartition<uint16_t, I32>;
using U32 = hn::Repartition<uint32_t, I32>;
using V32 = hn::Vec<I32>;

constexpr int64_t kLanes = hn::MaxLanes(I32());
constexpr int kRows = 4;

// Highway may keep two sums for each, which only together are what was asked for. No struct: the
// constructor that GCC makes for a struct of vectors lacks the target's options on aarch64.
HWY_INLINE void addProducts(V32& first, V32& second, hn::Vec<I16> aEven, hn::Vec<I16> aOdd,
                            hn::Vec<I16> bEven, hn::Vec<I16> bOdd) {
  const I32 d;
  first = hn::ReorderWidenMulAccumulate(d, aEven, bEven, first, second);
  first = hn::ReorderWidenMulAccumulate(d, aOdd, bOdd, first, second);
}

// Rows of a strip by one vector of columns.
template <int kCount>
void multiplyRows(const uint8_t* a, const int8_t* b, int64_t k, int32_t* to) {
  const I32 d;
  const I16 d16;
  const U16 du16;
  V32 first[kCount], second[kCount];
  for (int i = 0; i < kCount; ++i) first[i] = second[i] = hn::Zero(d);
  for (int64_t done = 0; done < k; done += kDepth, a += kStripRows * kDepth, b += 2 * kHalfBytes) {
    const int64_t quads = std::min<int64_t>(kDepth, k - done + 3) / 4;
    for (int64_t q = 0; q < quads; ++q) {
      const auto bytes = hn::LoadU(d, reinterpret_cast<const int32_t*>(b + q * 64));
      const auto pairs = hn::BitCast(d16, bytes);
      const auto bEven = hn::ShiftRight<8>(hn::ShiftLeft<8>(pairs));
      const auto bOdd = hn::ShiftRight<8>(pairs);
      HWY_UNROLL(4)
      for (int i = 0; i < kCount; ++i) {
        int32_t quad;
        __builtin_memcpy(&quad, a + i * kDepth + q * 4, 4);
        const auto numbers = hn::BitCast(du16, hn::Set(d, quad));
        const auto aEven = hn::BitCast(d16, hn::And(numbers, hn::Set(du16, 0xff)));
        const auto aOdd = hn::BitCast(d16, hn::ShiftRight<8>(numbers));
        addProducts(first[i], second[i], aEven, aOdd, bEven, bOdd);
      }
    }
  }
  for (int i = 0; i < kCount; ++i)
    hn::StoreU(hn::RearrangeToOddPlusEven(first[i], second[i]), d, to + i * kBlockColumns);
}

using RowsFunction = void (*)(const uint8_t*, const int8_t*, int64_t, int32_t*);
constexpr RowsFunction kRowsFunctions[kRows] = {multiplyRows<1>, multiplyRows<2>, multiplyRows<3>,
                                                multiplyRows<4>};

void multiplyBlock(const Block& block) {
  for (int64_t column = 0; column < kBlockColumns; column += kLanes) {
    const int8_t* b = block.b + column / 16 * kHalfBytes + column % 16 * 4;
    for (int64_t row = 0; row < block.rows; row += kRows) {
      const int64_t rows = std::min<int64_t>(kRows, block.rows - row);
      const uint8_t* a =
          block.a + row / kStripRows * kQuads.stripBytes(block.k) + row % kStripRows * kDepth;
      kRowsFunctions[rows - 1](a, b, block.k, block.sums + row * kBlockColumns + column);
    }
  }
}

#endif

}  // namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_int8 {

HWY_EXPORT(multiplyBlock);

void multiplyWithVectors(const Block& block) { HWY_DYNAMIC_DISPATCH(multiplyBlock)(block); }

}  // namespace camshaft::cpu::gemm_int8
#endif  // HWY_ONCE
