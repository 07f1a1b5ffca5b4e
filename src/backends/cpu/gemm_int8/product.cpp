#include "backends/cpu/gemm_int8/product.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/parallel.h"
#include "support/thread_pool.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr int64_t kTileBytes = kStripRows * kStepDepth;

// Byte products per addition of parallel.h's measure; of few rows, the time is that of reading B.
constexpr double kProductsPerWork = 64;
constexpr int64_t kRowsWorthReading = 8;

}  // namespace

int64_t packedRowsBytes(int64_t m, int64_t k) { return ceilDiv(m, kStripRows) * stripBytes(k); }

int64_t packedColumnsBytes(int64_t k, int64_t n) {
  return ceilDiv(n, kBlockColumns) * blockBytes(k);
}

// Where to go on writing, and the room there.
uint8_t* RowWriter::next(int64_t& room) {
  if (used_ == kStepDepth) {
    to_ += kTileBytes;
    used_ = 0;
  }
  room = kStepDepth - used_;
  return to_ + used_;
}

void RowWriter::copy(const uint8_t* from, int64_t count) {
  while (count > 0) {
    int64_t room;
    uint8_t* to = next(room);
    const int64_t part = std::min(room, count);
    if (flip_)
      for (int64_t i = 0; i < part; ++i) to[i] = from[i] ^ kFlip;
    else
      std::memcpy(to, from, part);
    from += part;
    count -= part;
    advance(part);
  }
}

void RowWriter::fill(uint8_t value, int64_t count) {
  while (count > 0) {
    int64_t room;
    uint8_t* to = next(room);
    const int64_t part = std::min(room, count);
    std::memset(to, value ^ flip_, part);
    count -= part;
    advance(part);
  }
}

void RowWriter::finish() {
  if (used_ > 0) std::memset(to_ + used_, 0, kStepDepth - used_);
}

void sumStrip(const uint8_t* strip, int64_t k, int32_t* sums) {
  std::fill(sums, sums + kStripRows, 0);
  for (int64_t step = 0; step < stepsOf(k); ++step) {
    for (int64_t row = 0; row < kStripRows; ++row, strip += kStepDepth) {
      int32_t sum = 0;
      for (int64_t i = 0; i < kStepDepth; ++i) sum += strip[i];
      sums[row] += sum;
    }
  }
}

void packRows(int64_t m, int64_t k, const uint8_t* a, uint8_t flip, uint8_t* packed, int32_t* sums,
              ThreadPool& pool) {
  const double work = static_cast<double>(stripBytes(k)) / 4;
  parallelItems(&pool, ceilDiv(m, kStripRows), work, [&](int64_t begin, int64_t end) {
    for (int64_t strip = begin; strip < end; ++strip) {
      uint8_t* to = packed + strip * stripBytes(k);
      const int64_t first = strip * kStripRows, rows = std::min(kStripRows, m - first);
      for (int64_t row = 0; row < rows; ++row) {
        RowWriter writer(to, row, flip);
        writer.copy(a + (first + row) * k, k);
        writer.finish();
      }
      if (sums) sumStrip(to, k, sums + first);
    }
  });
}

void packColumns(int64_t k, int64_t n, const uint8_t* b, bool transposed, uint8_t flip,
                 uint8_t* packed, int32_t* sums) {
  std::memset(packed, 0, packedColumnsBytes(k, n));
  std::fill(sums, sums + paddedColumns(n), 0);
  const int64_t rowStep = transposed ? 1 : n, columnStep = transposed ? k : 1;
  for (int64_t column = 0; column < n; ++column) {
    uint8_t* block = packed + column / kBlockColumns * blockBytes(k);
    const int64_t inBlock = column % kBlockColumns;
    uint8_t* lane = block + inBlock / 16 * kTileBytes + inBlock % 16 * 4;
    const uint8_t* from = b + column * columnStep;
    int32_t sum = 0;
    for (int64_t i = 0; i < k; ++i, from += rowStep) {
      const uint8_t value = *from ^ flip;
      const int64_t step = i / kStepDepth, inStep = i % kStepDepth;
      lane[step * 2 * kTileBytes + inStep / 4 * 64 + inStep % 4] = value;
      sum += static_cast<int8_t>(value);
    }
    sums[column] = sum;
  }
}

void multiply(int64_t m, int64_t n, int64_t k, const uint8_t* packedRows,
              const uint8_t* packedColumns, ThreadPool& pool,
              FunctionRef<void(const Sums&)> finish) {
  if (m == 0 || n == 0) return;
  const Multiplier& multiplier = multiplierFor(m);
  // Tasks are columns of blocks, so that a block of B is read once; rows are split when there are
  // too few of them.
  const int64_t columnBlocks = ceilDiv(n, kBlockColumns), rowBlocks = ceilDiv(m, kBlockRows);
  const int64_t rowTasks = std::min(rowBlocks, ceilDiv(4 * pool.threads(), columnBlocks));
  const int64_t blocksPerTask = ceilDiv(rowBlocks, rowTasks);
  const int64_t taskRows = std::max(kRowsWorthReading, std::min(m, blocksPerTask * kBlockRows));
  const double work = static_cast<double>(blockBytes(k) * taskRows) / kProductsPerWork;
  parallelItems(&pool, columnBlocks * rowTasks, work, [&](int64_t begin, int64_t end) {
    const TileScope tiles(multiplier);
    alignas(64) int32_t sums[kBlockRows * kBlockColumns];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t columnBlock = task / rowTasks, column = columnBlock * kBlockColumns;
      const int64_t first = task % rowTasks * blocksPerTask;
      const int64_t last = std::min(rowBlocks, first + blocksPerTask);
      for (int64_t block = first; block < last; ++block) {
        const int64_t row = block * kBlockRows, rows = std::min(kBlockRows, m - row);
        multiplier.multiply(
            {.a = packedRows + row / kStripRows * stripBytes(k),
             .b = reinterpret_cast<const int8_t*>(packedColumns) + columnBlock * blockBytes(k),
             .k = k,
             .rows = rows,
             .sums = sums});
        finish({sums, row, column, rows, std::min(kBlockColumns, n - column)});
      }
    }
  });
}

}  // namespace camshaft::cpu::gemm_int8
