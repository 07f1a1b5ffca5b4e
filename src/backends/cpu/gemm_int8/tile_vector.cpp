#include <algorithm>
#include <array>
#include <utility>

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
// products are added in pairs. Rows are taken apart once for all columns, so many steps of k at a
// time that theirs and those of B stay in L1.
using I32 = hn::ScalableTag<int32_t>;
using I16 = hn::Repartition<int16_t, I32>;
using U16 = hn::Repartition<uint16_t, I32>;
using V32 = hn::Vec<I32>;

constexpr int64_t kLanes = hn::MaxLanes(I32());
constexpr int64_t kSteps = 8, kStepQuads = kDepth / 4;
// At a time; vectors of AVX-512 are twice as many as those of others.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
constexpr int kVectors = 2;

// Pairs of a few rows, [row][even, odd][quad].
using Pairs = int32_t[kRows][2][kSteps * kStepQuads];

void takeApart(const uint8_t* a, int64_t rows, int64_t steps, Pairs& pairs) {
  const U16 words;
  const I32 d;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t quad = 0; quad < kStepQuads; quad += kLanes) {
        const uint8_t* from = a + (step * kStripRows + row) * kDepth + quad * 4;
        const auto bytes = hn::BitCast(words, hn::LoadU(d, reinterpret_cast<const int32_t*>(from)));
        const int64_t at = step * kStepQuads + quad;
        hn::StoreU(hn::BitCast(d, hn::And(bytes, hn::Set(words, 0xff))), d, pairs[row][0] + at);
        hn::StoreU(hn::BitCast(d, hn::ShiftRight<8>(bytes)), d, pairs[row][1] + at);
      }
}

// A few rows by kVectors vectors of columns, whose quads begin at `b`; sums of earlier steps are
// added where there are some. Highway may keep two sums for each, which only together are what was
// asked for. No struct of vectors: the constructor that GCC makes for one lacks the target's
// options on aarch64.
template <int kCount>
void multiplyRows(const Pairs& pairs, int64_t quads, const int8_t* const (&b)[kVectors], bool adds,
                  int32_t* const (&to)[kVectors]) {
  const I32 d;
  const I16 d16;
  V32 first[kCount][kVectors], second[kCount][kVectors];
  HWY_UNROLL(8)
  for (int i = 0; i < kCount; ++i) HWY_UNROLL(2)
  for (int v = 0; v < kVectors; ++v) first[i][v] = second[i][v] = hn::Zero(d);
  for (int64_t done = 0; done < quads; done += kStepQuads) {
    const int64_t end = std::min(quads, done + kStepQuads);
    const int64_t skipped = done / kStepQuads * 2 * kHalfBytes - done * 64;
    for (int64_t q = done; q < end; ++q) {
      hn::Vec<I16> even[kVectors], odd[kVectors];
      HWY_UNROLL(2)
      for (int v = 0; v < kVectors; ++v) {
        const auto bytes = hn::LoadU(d, reinterpret_cast<const int32_t*>(b[v] + skipped + q * 64));
        even[v] = hn::ShiftRight<8>(hn::ShiftLeft<8>(hn::BitCast(d16, bytes)));
        odd[v] = hn::ShiftRight<8>(hn::BitCast(d16, bytes));
      }
      HWY_UNROLL(8)
      for (int i = 0; i < kCount; ++i) {
        const auto evens = hn::BitCast(d16, hn::Set(d, pairs[i][0][q]));
        const auto odds = hn::BitCast(d16, hn::Set(d, pairs[i][1][q]));
        HWY_UNROLL(2)
        for (int v = 0; v < kVectors; ++v) {
          first[i][v] = hn::ReorderWidenMulAccumulate(d, evens, even[v], first[i][v], second[i][v]);
          first[i][v] = hn::ReorderWidenMulAccumulate(d, odds, odd[v], first[i][v], second[i][v]);
        }
      }
    }
  }
  for (int i = 0; i < kCount; ++i)
    for (int v = 0; v < kVectors; ++v) {
      int32_t* place = to[v] + i * kBlockColumns;
      const V32 before = adds ? hn::LoadU(d, place) : hn::Zero(d);
      hn::StoreU(hn::Add(before, hn::RearrangeToOddPlusEven(first[i][v], second[i][v])), d, place);
    }
}

using RowsFunction = void (*)(const Pairs&, int64_t, const int8_t* const (&)[kVectors], bool,
                              int32_t* const (&)[kVectors]);
template <int... kCounts>
constexpr std::array<RowsFunction, kRows> functionsFor(std::integer_sequence<int, kCounts...>) {
  return {multiplyRows<kCounts + 1>...};
}
constexpr auto kRowsFunctions = functionsFor(std::make_integer_sequence<int, kRows>());

void multiplyBlock(const Block& block) {
  static_assert(kStripRows % kRows == 0 && kBlockColumns % (kVectors * kLanes) == 0);
  alignas(64) Pairs pairs;
  const int64_t steps = kQuads.steps(block.k);
  if (steps == 0) std::fill(block.sums, block.sums + block.rows * kBlockColumns, 0);
  for (int64_t step = 0; step < steps; step += kSteps) {
    const int64_t some = std::min(kSteps, steps - step);
    const int64_t quads = std::min((block.k + 3) / 4 - step * kStepQuads, some * kStepQuads);
    for (int64_t row = 0; row < block.rows; row += kRows) {
      const int64_t rows = std::min<int64_t>(kRows, block.rows - row);
      takeApart(block.a + row / kStripRows * kQuads.stripBytes(block.k) +
                    (step * kStripRows + row % kStripRows) * kDepth,
                rows, some, pairs);
      for (int64_t column = 0; column < kBlockColumns; column += kVectors * kLanes) {
        const int8_t* b[kVectors];
        int32_t* to[kVectors];
        for (int v = 0; v < kVectors; ++v) {
          const int64_t own = column + v * kLanes;
          b[v] = block.b + step * 2 * kHalfBytes + own / 16 * kHalfBytes + own % 16 * 4;
          to[v] = block.sums + row * kBlockColumns + own;
        }
        kRowsFunctions[rows - 1](pairs, quads, b, step > 0, to);
      }
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
