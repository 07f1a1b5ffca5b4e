#include "backends/cpu/gemm_int8/product.h"

#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/gemm_int8/finish.h"
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
  const int64_t strips = (p.m + kStripRows - 1) / kStripRows;
  std::vector<uint8_t> rows(packedRowsBytes(p.m, p.k), 0xcd);
  std::vector<int32_t> rowSums(strips * kStripRows);
  packRows(p.m, p.k, a.data(), p.aSigned ? kFlip : 0, rows.data(), rowSums.data(), pool);
  std::vector<uint8_t> columns(packedColumnsBytes(p.k, p.n), 0xcd);
  std::vector<int32_t> columnSums(paddedColumns(p.n));
  packColumns(p.k, p.n, b.data(), false, p.bSigned ? 0 : kFlip, columns.data(), columnSums.data());

  const int64_t za = valueOf(zeroA, p.aSigned) + (p.aSigned ? 128 : 0);
  std::vector<int32_t> offsets(paddedColumns(p.n)), zeros(paddedColumns(p.n));
  for (int64_t j = 0; j < p.n; ++j) {
    zeros[j] = static_cast<int32_t>(valueOf(zeroB[j], p.bSigned) - (p.bSigned ? 0 : 128));
    offsets[j] = static_cast<int32_t>(-za * columnSums[j] + p.k * za * zeros[j]);
  }
  std::vector<int32_t> out(p.m * p.n, -1);
  Finish finish;
  finish.columnOffsets = offsets.data();
  finish.columnZeros = zeros.data();
  finish.rowSums = rowSums.data();
  finish.out = out.data();
  finish.stride = p.n;
  multiply(p.m, p.n, p.k, rows.data(), columns.data(), pool,
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
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 33, 70},   {3, 5, 63},  {5, 31, 64},
                              {16, 32, 128}, {17, 33, 65},  {31, 64, 4}, {33, 17, 129},
                              {70, 95, 300}, {2, 200, 1030}};
  for (std::string_view isa : availableIsas()) {
    ASSERT_TRUE(setIsa(isa));
    for (const auto& [m, n, k] : sizes)
      for (int signs = 0; signs < 4; ++signs)
        for (bool extreme : {false, true})
          expectExact({m, n, k, (signs & 1) != 0, (signs & 2) != 0, extreme}, signs % 3 + 1);
  }
  setIsa(availableIsas().front());
}

TEST(Int8Product, EveryMultiplierGivesTheSameSums) {
  constexpr int64_t kDepth = 203;
  std::mt19937 random(5);
  const std::vector<uint8_t> a = randomBytes(2 * stripBytes(kDepth), false, false, random);
  // Rows and columns are filled up with zeros, as packing does.
  std::vector<uint8_t> b = randomBytes(kDepth * kBlockColumns, true, true, random);
  std::vector<uint8_t> rows(2 * stripBytes(kDepth)), columns(blockBytes(kDepth));
  std::vector<int32_t> sums(kBlockColumns);
  ThreadPool pool(1);
  packRows(kBlockRows, kDepth, a.data(), 0, rows.data(), nullptr, pool);
  packColumns(kDepth, kBlockColumns, b.data(), false, 0, columns.data(), sums.data());
  const auto run = [&](const Multiplier& multiplier, int64_t count) {
    std::vector<int32_t> result(kBlockRows * kBlockColumns, 7);
    const TileScope tiles(multiplier);
    multiplier.multiply({.a = rows.data(),
                         .b = reinterpret_cast<const int8_t*>(columns.data()),
                         .k = kDepth,
                         .rows = count,
                         .sums = result.data()});
    result.resize(count * kBlockColumns);
    return result;
  };
  const std::vector<Multiplier> all = availableMultipliers();
  for (int64_t count = 1; count <= kBlockRows; ++count)
    for (const Multiplier& multiplier : all)
      EXPECT_EQ(run(multiplier, count), run(all.front(), count)) << multiplier.name << " " << count;
}

}  // namespace
}  // namespace camshaft::cpu::gemm_int8
