#include "backends/cpu/gemm/split_gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm/split_tile.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "support/error.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

struct Split {
  uint16_t high, low;
};

uint16_t roundToBf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if (x != x) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

Split split(float x) {
  const uint16_t high = roundToBf16(x);
  const float rest = x - std::bit_cast<float>(static_cast<uint32_t>(high) << 16);
  return {high, rest - rest == 0.0f ? roundToBf16(rest) : uint16_t{0}};
}

// The step of k and the two column tiles of one packed block of B, in the order they lie.
constexpr int64_t kBlockHalves = 2 * kSplitDepth * kSplitColumns;

int64_t stepsOf(int64_t k) { return ceilDiv(k, kSplitDepth); }

}  // namespace

int64_t splitPackedBFloats(int64_t k, int64_t n) {
  return ceilDiv(n, kSplitColumns) * kSplitColumns * stepsOf(k) * kSplitDepth;
}

// [n / 32][k / 32][high, low][left, right 16 columns][16 pairs of k][16 columns][2 of k]
void splitPackB(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed, float* packed) {
  std::memset(packed, 0, static_cast<size_t>(splitPackedBFloats(k, n)) * sizeof(float));
  auto* halves = reinterpret_cast<uint16_t*>(packed);
  constexpr int64_t kTileHalves = kBlockHalves / 4, kLow = kBlockHalves / 2;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < k; ++i) {
      const Split value = split(transposed ? b[j * ldb + i] : b[i * ldb + j]);
      const int64_t block = j / kSplitColumns * stepsOf(k) + i / kSplitDepth;
      const int64_t column = j % kSplitColumns, step = i % kSplitDepth;
      const int64_t at = block * kBlockHalves + column / 16 * kTileHalves +
                         (step / 2 * 16 + column % 16) * 2 + step % 2;
      halves[at] = value.high;
      halves[at + kLow] = value.low;
    }
  }
}

int64_t splitGemmWorkspaceFloats(int64_t m, int64_t k) {
  return ceilDiv(m, kSplitRows) * kSplitRows * stepsOf(k) * kSplitDepth;
}

void splitGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packedB,
               float* c, int64_t ldc, const Epilogue& epilogue, ThreadPool& pool,
               float* workspace) {
  CAMSHAFT_CHECK(hasSplitGemm(), "this CPU has no bf16 matrix units");
  if (m == 0 || n == 0) return;
  const int64_t steps = stepsOf(k), rowBlocks = ceilDiv(m, kSplitRows);
  const int64_t rowBlockFloats = kSplitRows * steps * kSplitDepth;
  pool.parallelFor(rowBlocks, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t row = block * kSplitRows;
      splitRows(a + row * lda, lda, std::min(kSplitRows, m - row), k,
                workspace + block * rowBlockFloats);
    }
  });

  // Tasks are columns of blocks, so that a block of B is read once; rows are split when there are
  // too few of them.
  const int64_t columnBlocks = ceilDiv(n, kSplitColumns);
  const int64_t rowTasks = std::min(rowBlocks, ceilDiv(4 * pool.threads(), columnBlocks));
  const int64_t blocksPerTask = ceilDiv(rowBlocks, rowTasks);
  const int64_t aheadBytes = ceilDiv(kBlockHalves * 2 / blocksPerTask, 64) * 64;
  pool.parallelFor(columnBlocks * rowTasks, 1, [&](int64_t begin, int64_t end, int) {
    const TileScope tiles(true);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task / rowTasks * kSplitColumns;
      const int64_t columns = std::min(kSplitColumns, n - column);
      const float* b = packedB + column * steps * kSplitDepth;
      const int64_t first = task % rowTasks * blocksPerTask;
      const int64_t last = std::min(rowBlocks, first + blocksPerTask);
      for (int64_t block = first; block < last; ++block) {
        const int64_t row = block * kSplitRows, rows = std::min(kSplitRows, m - row);
        alignas(64) float products[kSplitRows * kSplitColumns];
        // Each block of rows fetches its share of the next block of columns.
        const char* ahead = reinterpret_cast<const char*>(b + kSplitColumns * steps * kSplitDepth) +
                            (block - first) * aheadBytes * steps;
        multiplySplit(workspace + block * rowBlockFloats, b, steps, ahead, aheadBytes, products);
        finishBlock(products, kSplitColumns, rows, columns, row, column, c, ldc, epilogue);
      }
    }
  });
}

}  // namespace camshaft::cpu
