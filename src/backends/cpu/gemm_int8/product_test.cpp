#include "backends/cpu/gemm_int8/product.h"

#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/gemm_int8/finish.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "backends/cpu/simd/isa.h"
#include "support/thread_pool.h"

namespace camshaft::cpu::gemm_int8 {
namespace {

struct Problem {
  int64_t m, n, k;
  bool aSigned, bSigned;
  bool extreme;  // only the ends of the ranges
};

int64_t valueOf(uint8_t byte, bool isSigned) { return isSigned ? static_cast<int8_t>(byte) : byte; }

std::vector<uint8_t> randomBytes(int64_t count, bool extreme, bool isSigned, std::mt19937& random) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random());
    if (extreme) byte = isSigned ? (byte & 1 ? 127 : 128) : (byte & 1 ? 255 : 0);
  }
  return bytes;
}

// The product through packing, blocks and zero points, against plain loops in 64 bits.
void expectExact(const Problem& p, int threads) {
  SCOPED_TRACE(::testing::Message() << p.m << "x" << p.n << "x" << p.k << " signs " << p.aSigned
                                    << p.bSigned << " extreme " << p.extreme << " " << isaName());
  std::mt19937 random(static_cast<unsigned>(p.m * 131 + p.n * 17 + p.k));
  const std::vector<uint8_t> a = randomBytes(p.m * p.k, p.extreme, p.aSigned, random);
  const std::vector<uint8_t> b = randomBytes(p.k * p.n, p.extreme, p.bSigned, random);
  const uint8_t zeroA = randomBytes(1, p.extreme, p.aSigned, random)[0];
  const std::vector<uint8_t> zeroB = randomBytes(p.n, p.extreme, p.bSigned, random);

  ThreadPool pool(threads);
  const Layout& layout = layoutInUse();
  std::vector<uint8_t> columns(packedColumnsBytes(layout, p.k, p.n), 0xcd);
  std::vector<int32_t> columnSums(paddedColumns(p.n));
  packColumns(layout, p.k, p.n, b.data(), false, p.bSigned ? 0 : kFlip, columns.data(),
              columnSums.data());

  for (int64_t j = 0; j < p.n; j += kBlockColumns) {
    std::vector<uint8_t> block(layout.blockBytes(p.k), 0xcd);
    std::vector<int32_t> sums(kBlockColumns);
    packBlock(layout, p.k, p.n, b.data(), j, p.bSigned ? 0 : kFlip, block.data(), sums.data());
    const auto* whole = columns.data() + j / kBlockColumns * layout.blockBytes(p.k);
    ASSERT_TRUE(std::equal(block.begin(), block.end(), whole));
    ASSERT_TRUE(std::equal(sums.begin(), sums.end(), columnSums.begin() + j));
  }

  const uint8_t flip = rowFlip(layout, p.aSigned);
  const int64_t za = rowValue(layout, zeroA ^ flip);
  std::vector<int32_t> offsets(paddedColumns(p.n)), zeros(paddedColumns(p.n));
  for (int64_t j = 0; j < p.n; ++j) {
    zeros[j] = static_cast<int32_t>(valueOf(zeroB[j], p.bSigned) - (p.bSigned ? 0 : 128));
    offsets[j] = static_cast<int32_t>(-za * columnSums[j] + p.k * za * zeros[j]);
  }
  std::vector<int32_t> out(p.m * p.n, -1);
  Finish finish;
  finish.columnOffsets = offsets.data();
  finish.columnZeros = zeros.data();
  finish.out = out.data();
  finish.stride = p.n;
  std::vector<std::byte> workspace(multiplyWorkspaceBytes(layout, p.m, p.k, threads) + 64);
  const auto pack = [&](int64_t, int64_t row, int64_t count, uint8_t* strip, uint8_t*) {
    packRows(layout, a.data() + row * p.k, count, p.k, flip, strip);
  };
  multiply({&layout, p.m, p.n, p.k, columns.data(), true}, pack, pool, workspace.data(),
           [&](const Sums& sums) { finishSums(finish, sums); });

  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      int64_t want = 0;
      for (int64_t k = 0; k < p.k; ++k)
        want += (valueOf(a[i * p.k + k], p.aSigned) - valueOf(zeroA, p.aSigned)) *
                (valueOf(b[k * p.n + j], p.bSigned) - valueOf(zeroB[j], p.bSigned));
      ASSERT_EQ(out[i * p.n + j], want) << "at " << i << ", " << j;
    }
  }
}

TEST(Int8Product, IsExactForAllSignsSizesAndInstructionSets) {
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 33, 70},    {3, 5, 63},  {5, 31, 64},
                              {16, 32, 128}, {17, 33, 65},   {31, 64, 4}, {33, 17, 129},
                              {70, 95, 300}, {2, 200, 1030}, {9, 40, 7},  {6, 48, 24},
                              {12, 16, 16}};
  for (std::string_view isa : availableIsas()) {
    ASSERT_TRUE(setIsa(isa));
    for (const auto& [m, n, k] : sizes)
      for (int signs = 0; signs < 4; ++signs)
        for (bool extreme : {false, true})
          expectExact({m, n, k, (signs & 1) != 0, (signs & 2) != 0, extreme}, signs % 3 + 1);
  }
  setIsa(availableIsas().front());
}

// Sums of the first rows of A, [..][k], and blocks of columns of B, [k][blocks * 32], without what
// A's zero adds: those of one block behind the other's, with so many columns of the last.
std::vector<int32_t> sumsBy(const Multiplier& multiplier, const std::vector<uint8_t>& a,
                            const std::vector<uint8_t>& b, int64_t k, int64_t count,
                            int64_t columns, int64_t blocks = 1) {
  const Layout& layout = *multiplier.layout;
  const int64_t n = blocks * kBlockColumns;
  std::vector<uint8_t> rows(kBlockRows / layout.stripRows * layout.stripBytes(k));
  std::vector<uint8_t> packed(packedColumnsBytes(layout, k, n));
  std::vector<int32_t> columnSums(n);
  for (int64_t row = 0; row < count; row += layout.stripRows)
    packRows(layout, a.data() + row * k, std::min(layout.stripRows, count - row), k,
             rowFlip(layout, false), rows.data() + row / layout.stripRows * layout.stripBytes(k));
  packColumns(layout, k, n, b.data(), false, 0, packed.data(), columnSums.data());
  std::vector<int32_t> sums(kBlockRows * kBlockColumns, 7);
  const TileScope tiles(multiplier.usesTiles);
  multiplier.multiply({.a = rows.data(),
                       .b = reinterpret_cast<const int8_t*>(packed.data()),
                       .k = k,
                       .blocks = blocks,
                       .rows = count,
                       .columns = columns,
                       .sums = sums.data()});
  const int32_t zero = rowValue(layout, rowFlip(layout, false));
  std::vector<int32_t> result;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t row = 0; row < count; ++row) {
      const int64_t first = (block * (kBlockRows / blocks) + row) * kBlockColumns;
      for (int64_t column = 0; column < (block + 1 < blocks ? kBlockColumns : columns); ++column)
        result.push_back(sums[first + column] - zero * columnSums[block * kBlockColumns + column]);
    }
  return result;
}

TEST(Int8Product, EveryMultiplierGivesTheSameSums) {
  constexpr int64_t kDepth = 2203;
  std::mt19937 random(5);
  const std::vector<uint8_t> a = randomBytes(kBlockRows * kDepth, false, false, random);
  const std::vector<uint8_t> b = randomBytes(kDepth * kBlockColumns, true, true, random);
  const std::vector<Multiplier> all = availableMultipliers();
  for (int64_t count : {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 64, 127, 128})
    for (int64_t columns : {1, 15, 17, 32})
      for (const Multiplier& multiplier : all)
        EXPECT_EQ(sumsBy(multiplier, a, b, kDepth, count, columns),
                  sumsBy(all.front(), a, b, kDepth, count, columns))
            << multiplier.name << " " << count << " " << columns;
}

// Of columns [begin, begin + kBlockColumns) of B, [k][n].
std::vector<uint8_t> columnsFrom(const std::vector<uint8_t>& b, int64_t n, int64_t begin) {
  std::vector<uint8_t> some;
  for (auto row = b.begin(); row != b.end(); row += n)
    some.insert(some.end(), row + begin, row + begin + kBlockColumns);
  return some;
}

TEST(Int8Product, BlocksAtOnceHaveTheSumsOfEach) {
  constexpr int64_t kDepth = 203;
  std::mt19937 random(6);
  const std::vector<Multiplier> all = availableMultipliers();
  for (const Multiplier& multiplier : all) {
    const int64_t blocks = multiplier.blocksAtOnce, n = blocks * kBlockColumns;
    const std::vector<uint8_t> a = randomBytes(kBlockRows * kDepth, false, false, random);
    const std::vector<uint8_t> b = randomBytes(kDepth * n, true, true, random);
    for (const int64_t count : {1, 5, 6, 7, 12, 25, 60, 63, 64}) {
      std::vector<int32_t> expected;
      for (int64_t column = 0; column < n; column += kBlockColumns)
        for (const int32_t sum :
             sumsBy(all.front(), a, columnsFrom(b, n, column), kDepth, count, kBlockColumns))
          expected.push_back(sum);
      EXPECT_EQ(sumsBy(multiplier, a, b, kDepth, count, kBlockColumns, blocks), expected)
          << multiplier.name << " " << count;
    }
  }
}

// Rows of two parts that lie so far apart, or anywhere, and end in the middle of a step.
TEST(Int8Product, RowsInPlaceGiveTheSameSums) {
  constexpr int64_t kPart = 84, kDepth = 2 * kPart, kStride = 220, kTaps[] = {3, 60};  // in pairs
  std::mt19937 random(7);
  const std::vector<uint8_t> memory =
      randomBytes(kBlockRows * kStride + kDepth, false, false, random);
  const std::vector<uint8_t> b = randomBytes(kDepth * kBlockColumns, true, true, random);
  std::vector<const uint8_t*> scattered;
  std::vector<uint8_t> gathered, gatheredInTurn;
  for (int64_t row = 0; row < kBlockRows; ++row) {
    const uint8_t* inTurn = memory.data() + row * kStride;
    scattered.push_back(memory.data() + row * 37 % kBlockRows * kStride);
    for (const int64_t tap : kTaps) {
      gatheredInTurn.insert(gatheredInTurn.end(), inTurn + 2 * tap, inTurn + 2 * tap + kPart);
      const uint8_t* from = scattered.back() + 2 * tap;
      gathered.insert(gathered.end(), from, from + kPart);
    }
  }
  std::vector<uint8_t> packed(kQuads.blockBytes(kDepth));
  std::vector<int32_t> columnSums(kBlockColumns), sums(kBlockRows * kBlockColumns);
  packColumns(kQuads, kDepth, kBlockColumns, b.data(), false, 0, packed.data(), columnSums.data());
  const std::vector<Multiplier> all = availableMultipliers();
  for (const Multiplier& multiplier : all)
    for (const int64_t count : {1, 2, 11, 12, 13, 49, 127, 128}) {
      if (!multiplier.readsAnyRows) continue;
      SCOPED_TRACE(testing::Message() << multiplier.name << " " << count);
      Block block{.a = memory.data(),
                  .rowStride = kStride,
                  .taps = kTaps,
                  .tapCount = 2,
                  .b = reinterpret_cast<const int8_t*>(packed.data()),
                  .k = kDepth,
                  .rows = count,
                  .sums = sums.data()};
      const auto found = [&] {
        std::fill(sums.begin(), sums.end(), 7);
        multiplier.multiply(block);
        return std::vector<int32_t>(sums.begin(), sums.begin() + count * kBlockColumns);
      };
      EXPECT_EQ(found(), sumsBy(all.front(), gatheredInTurn, b, kDepth, count, kBlockColumns));
      block.scattered = scattered.data();
      EXPECT_EQ(found(), sumsBy(all.front(), gathered, b, kDepth, count, kBlockColumns));
    }
}

// Products of two bytes of rows of at most `most`, and weights of which pairs are just what 16 bits
// hold, or more, in one column, in a few and in all.
TEST(Int8Product, PairsAreExactAtTheEndsOf16Bits) {
  constexpr int64_t kDepth = 300, kRows = 20;
  for (const int most : {0, 1, 127, 128, 129, 170, 204, 227, 254, 255})
    for (const auto& [first, second] : {std::pair(64, 64),
                                        {-64, -64},
                                        {65, 64},
                                        {-64, -65},
                                        {80, 80},
                                        {96, 97},
                                        {127, 127},
                                        {-128, -128},
                                        {-128, 127}})
      for (const int64_t step : {1, 7, 32}) {
        const std::vector<uint8_t> a(kRows * kDepth, static_cast<uint8_t>(most));
        std::vector<uint8_t> b(kDepth * kBlockColumns, 3);
        for (int64_t k = 0; k < kDepth; ++k)
          for (int64_t column = 0; column < kBlockColumns; column += step)
            b[k * kBlockColumns + column] = static_cast<uint8_t>(k % 2 == 0 ? first : second);
        const int64_t sums[] = {kDepth / 2 * most * (first + second), kDepth * most * 3};
        for (const Multiplier& multiplier : availableMultipliers()) {
          const auto found = sumsBy(multiplier, a, b, kDepth, kRows, kBlockColumns);
          for (size_t i = 0; i < found.size(); ++i)
            ASSERT_EQ(found[i], sums[i % kBlockColumns % step == 0 ? 0 : 1])
                << multiplier.name << " " << most << " " << first << " " << second;
        }
      }
}

}  // namespace
}  // namespace camshaft::cpu::gemm_int8
