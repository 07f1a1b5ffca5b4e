#include "backends/cpu/gemm/bf16_gemm.h"

#include <algorithm>

#include "backends/cpu/gemm/bf16_tile.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "support/error.h"
#include "support/thread_pool.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace camshaft::cpu {

namespace {

// Packed rows of A that stay in L2 beside the panels of B.
constexpr int64_t kPackedHalves = 256 * 1024, kMostRows = 128, kFewestRows = 16;
// Steps of k per pass and columns: a panel of A and a few of B stay in L1.
constexpr int64_t kPassSteps = 256, kGroupColumns = 16;
// Products that wait in L1 for their epilogue.
constexpr int64_t kProducts = 4096;

// A few tasks per worker, as in partition.cpp, each worth waking a thread for.
constexpr int64_t kTasksPerWorker = 4;
constexpr double kMinTaskFlops = 1.5e6;
// In the time that a byte of B takes to arrive from memory, a core does this many operations.
constexpr double kFlopsPerByte = 24;

int64_t wholeRows(int64_t rows) { return ceilDiv(rows, kBf16Rows) * kBf16Rows; }

// Products of a group of panels of B with all packed rows, in [rows][stride].
void multiplyPanels(const Bf16Block& block, const uint16_t* packedA, int64_t column,
                    int64_t columns, float* products) {
  const int64_t steps = bf16Steps(block.k), rowHalves = bf16PanelHalves(block.k);
  const int64_t columnHalves = bf16PanelHalves(std::max(block.k, block.packedK));
  const int64_t passes = std::max<int64_t>(1, ceilDiv(steps, kPassSteps));
  for (int64_t group = 0; group < columns; group += kGroupColumns) {
    const int64_t end = std::min(columns, group + kGroupColumns);
    int64_t done = 0;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t depth = ceilDiv(steps - done, passes - pass);
      const int64_t at = done * kBf16Depth * kBf16Rows;
      for (int64_t row = 0; row < block.rows; row += kBf16Rows)
        for (int64_t panel = group; panel < end; panel += kBf16Columns)
          multiplyBf16({.a = packedA + row / kBf16Rows * rowHalves + at,
                        .b = block.packedB + (column + panel) / kBf16Columns * columnHalves + at,
                        .steps = depth,
                        .rows = block.rows - row,
                        .accumulate = pass > 0,
                        .products = products + row * columns + panel,
                        .stride = columns});
      done += depth;
    }
  }
}

struct Tasks {
  int64_t rows = 0, columns = 0;  // of one
  int64_t rowTasks = 0, columnTasks = 0;
};

Tasks divide(int64_t m, int64_t n, int64_t k, int threads) {
  const int64_t rowTiles = ceilDiv(m, kBf16Rows), panels = ceilDiv(n, kBf16Columns);
  const double sizeOfB = static_cast<double>(n) * static_cast<double>(k);
  const double work = std::max(2.0 * static_cast<double>(m) * sizeOfB, kFlopsPerByte * 2 * sizeOfB);
  int64_t wanted = 1;
  if (threads > 1 && work >= 2 * kMinTaskFlops)
    wanted = std::min(threads * kTasksPerWorker, static_cast<int64_t>(work / kMinTaskFlops));
  const int64_t leastRowTasks = ceilDiv(m, bf16BlockRows(k));
  // Rows are packed by each task that has them, so columns are split only where rows are few.
  int64_t rowTasks = std::max(leastRowTasks, std::min(wanted, rowTiles / 4));
  rowTasks = std::clamp<int64_t>(rowTasks, 1, rowTiles);
  const int64_t columnTasks = std::min(panels, ceilDiv(wanted, rowTasks));
  Tasks tasks;
  tasks.rows = ceilDiv(rowTiles, rowTasks) * kBf16Rows;
  tasks.columns = ceilDiv(panels, columnTasks) * kBf16Columns;
  tasks.rowTasks = ceilDiv(m, tasks.rows);
  tasks.columnTasks = ceilDiv(n, tasks.columns);
  return tasks;
}

}  // namespace

bool hasBf16Gemm() {
#if defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kBf16 = 1ul << 14;  // HWCAP2_BF16
  static const bool available = (getauxval(AT_HWCAP2) & kBf16) != 0;
  return available;
#else
  return false;
#endif
}

void requireBf16Gemm() {
  if (!hasBf16Gemm())
    fail(ErrorKind::kInvalidEngine,
         "the engine was built for a CPU that multiplies bf16 matrices, which this one does not; "
         "build it again on this machine");
}

int64_t bf16PackedBFloats(int64_t k, int64_t n) {
  return ceilDiv(n, kBf16Columns) * bf16PanelHalves(k) / 2;
}

void packBf16B(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed,
               uint16_t* packed) {
  for (int64_t column = 0; column < n; column += kBf16Columns, packed += bf16PanelHalves(k)) {
    const int64_t columns = std::min(kBf16Columns, n - column);
    if (transposed)
      packBf16Panel(b + column * ldb, ldb, k, columns, packed);
    else
      packBf16Columns(b + column, ldb, k, columns, packed);
  }
}

void packBf16Panel(const float* a, int64_t lda, int64_t k, int64_t rows, uint16_t* panel) {
  const float* from[kBf16Rows];
  // Rows beyond the last are the last once more: what becomes of them is not used.
  for (int64_t i = 0; i < kBf16Rows; ++i) from[i] = a + std::min(i, rows - 1) * lda;
  packBf16Rows(from, k, panel);
}

int64_t bf16BlockRows(int64_t k) {
  const int64_t fitting = kPackedHalves / std::max<int64_t>(1, bf16Steps(k) * kBf16Depth);
  return std::clamp(fitting / kBf16Rows * kBf16Rows, kFewestRows, kMostRows);
}

int64_t bf16RowsFloats(int64_t rows, int64_t k) {
  return (wholeRows(rows) / kBf16Rows * bf16PanelHalves(k) / 2 + 15) / 16 * 16;
}

void multiplyBf16Block(const Bf16Block& block, PackBf16Panel pack, const Epilogue& epilogue,
                       float* workspace) {
  auto* packedA = reinterpret_cast<uint16_t*>(workspace);
  for (int64_t row = 0; row < block.rows; row += kBf16Rows)
    pack(block.row + row, std::min(kBf16Rows, block.rows - row),
         packedA + row / kBf16Rows * bf16PanelHalves(block.k));
  alignas(64) float products[kProducts];
  const int64_t together = kProducts / wholeRows(block.rows) / kBf16Columns * kBf16Columns;
  for (int64_t column = 0; column < block.columns; column += together) {
    const int64_t columns = std::min(together, block.columns - column);
    const int64_t stride = ceilDiv(columns, kBf16Columns) * kBf16Columns;
    multiplyPanels(block, packedA, column, stride, products);
    if (epilogue.scale != 1)
      for (int64_t i = 0; i < block.rows * stride; ++i) products[i] *= epilogue.scale;
    finishBlock(products, stride, block.rows, columns, block.row, block.column + column, block.c,
                block.ldc, epilogue);
  }
}

int64_t bf16GemmWorkspaceFloats(int64_t m, int64_t k, int threads) {
  return threads * bf16RowsFloats(std::min(m, bf16BlockRows(k)), k);
}

void bf16Gemm(int64_t m, int64_t n, int64_t k, PackBf16Panel pack, const uint16_t* packedB,
              float* c, int64_t ldc, const Epilogue& epilogue, ThreadPool& pool, float* workspace) {
  if (m == 0 || n == 0) return;
  const Tasks tasks = divide(m, n, k, pool.threads());
  const int64_t workerFloats = bf16GemmWorkspaceFloats(m, k, 1);
  pool.parallelFor(
      tasks.rowTasks * tasks.columnTasks, 1, [&](int64_t begin, int64_t end, int worker) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t row = task % tasks.rowTasks * tasks.rows;
          const int64_t column = task / tasks.rowTasks * tasks.columns;
          multiplyBf16Block({.row = row,
                             .column = column,
                             .rows = std::min(tasks.rows, m - row),
                             .columns = std::min(tasks.columns, n - column),
                             .k = k,
                             .packedB = packedB + column / kBf16Columns * bf16PanelHalves(k),
                             .c = c,
                             .ldc = ldc},
                            pack, epilogue, workspace + worker * workerFloats);
        }
      });
}

}  // namespace camshaft::cpu
