#include "backends/cpu/gemm/bf16_gemm.h"

#include <algorithm>

#include "backends/cpu/gemm/bf16_tile.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "support/error.h"
#include "support/thread_pool.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace camshaft::cpu {

namespace {

struct Blocking {
  // Packed rows of A that stay in L2 beside the panels of B.
  int64_t packedHalves, mostRows, fewestRows;
  // Steps of k per pass, and columns: a panel of A and a few of B stay in L1.
  int64_t passSteps, groupColumns;
  // Products that wait in L1 for their epilogue.
  int64_t waitingRows, waitingColumns;
  int64_t taskPanels;   // panels of A that make a task worth while
  double minTaskFlops;  // what is worth waking a thread for
  double flopsPerByte;  // operations that a core does while a byte of B arrives from memory
};
#if defined(__x86_64__)
// AMX multiplies from L2 at three quarters of its peak: no pass, whose products would be stored and
// loaded again, is worth that.
constexpr Blocking kBlocking = {.packedHalves = 512 * 1024,
                                .mostRows = 512,
                                .fewestRows = 32,
                                .passSteps = int64_t{1} << 40,
                                .groupColumns = 32,
                                .waitingRows = 32,
                                .waitingColumns = 64,
                                .taskPanels = 2,
                                .minTaskFlops = 4e6,
                                .flopsPerByte = 200};
#else
constexpr Blocking kBlocking = {.packedHalves = 256 * 1024,
                                .mostRows = 128,
                                .fewestRows = 16,
                                .passSteps = 256,
                                .groupColumns = 16,
                                .waitingRows = 128,
                                .waitingColumns = 32,
                                .taskPanels = 4,
                                .minTaskFlops = 1.5e6,
                                .flopsPerByte = 24};
#endif
static_assert(kBlocking.waitingRows % kBf16Rows == 0);
static_assert(kBlocking.waitingColumns % kBf16Columns == 0);
// A few tasks per worker, as in partition.cpp.
constexpr int64_t kTasksPerWorker = 4;

int64_t wholeRows(int64_t rows) { return ceilDiv(rows, kBf16Rows) * kBf16Rows; }

template <class T>
void packMatrixRows(const T* a, int64_t lda, int64_t k, int64_t rows, uint16_t* panel) {
  const T* from[kBf16Rows];
  for (int64_t i = 0; i < rows; ++i) from[i] = a + i * lda;
  packBf16Rows(from, rows, k, panel);
}

// The panel of the block's rows from `row` on: packed, or the rows themselves.
struct PanelOfA {
  const uint16_t* data;
  int64_t row, step;  // halves between rows and steps
  const int64_t* taps = nullptr;
  int64_t tapCount = 1;
};

bool isReadInPlace(const Bf16Block& block, int64_t row) {
  constexpr int64_t kWhole = std::max<int64_t>(1, kBf16RowsInPlace);
  const bool isWhole = block.a.readsBeyond || std::min(kBf16Rows, block.rows - row) % kWhole == 0;
  return kBf16RowsInPlace > 0 && block.a.data && isWhole &&
         block.k / block.a.tapCount % kBf16Depth == 0;
}

PanelOfA panelOf(const Bf16Block& block, const uint16_t* packedA, int64_t row) {
  if (isReadInPlace(block, row))
    return {block.a.data + (block.row + row) * block.a.stride, block.a.stride, kBf16Depth,
            block.a.taps, block.a.tapCount};
  return {packedA + row / kBf16Rows * bf16PanelHalves(block.k), kBf16Depth, kBf16StepHalves};
}

void packRows(const Bf16Block& block, PackBf16Panel pack, uint16_t* packedA) {
  for (int64_t row = 0; row < block.rows; row += kBf16Rows)
    if (!isReadInPlace(block, row))
      pack(block.row + row, std::min(kBf16Rows, block.rows - row),
           packedA + row / kBf16Rows * bf16PanelHalves(block.k));
}

// A part of a block whose products wait together.
struct Waiting {
  int64_t row, column, rows, columns;
  float* products;
  int64_t stride;  // floats between its rows
};

// Each panel of A fetches its share of the columns that are next. Behind the last ones lie other
// weights, most likely the next to be read; fetching cannot fault.
void multiplyPanels(const Bf16Block& block, const uint16_t* packedA, const Waiting& part) {
  const int64_t steps = bf16Steps(block.k);
  const int64_t panelHalves = bf16PanelHalves(std::max(block.k, block.packedK));
  const int64_t passes = std::max<int64_t>(1, ceilDiv(steps, kBlocking.passSteps));
  const int64_t nextHalves = part.stride / kBf16Columns * panelHalves;
  const int64_t aheadLines = ceilDiv(kBf16StepHalves, ceilDiv(block.rows, kBf16Rows) * 32);
  const int64_t endRow = part.row + part.rows;
  for (int64_t group = 0; group < part.columns; group += kBlocking.groupColumns) {
    const int64_t end = std::min(part.columns, group + kBlocking.groupColumns);
    int64_t done = 0;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t depth = ceilDiv(steps - done, passes - pass);
      for (int64_t row = part.row; row < endRow; row += kBf16Rows) {
        const PanelOfA a = panelOf(block, packedA, row);
        for (int64_t panel = group; panel < end; panel += kBf16Columns) {
          const uint16_t* b = block.packedB + (part.column + panel) / kBf16Columns * panelHalves +
                              done * kBf16StepHalves;
          multiplyBf16({.a = a.data + done * a.step,
                        .aRow = a.row,
                        .aStep = a.step,
                        .taps = a.taps,
                        .tapCount = a.tapCount,
                        .b = b,
                        .steps = depth / a.tapCount,
                        .rows = endRow - row,
                        .columns = part.columns - panel,
                        .accumulate = pass > 0,
                        .products = part.products + (row - part.row) * part.stride + panel,
                        .stride = part.stride,
                        .ahead = b + nextHalves + row / kBf16Rows * aheadLines * 32 * depth,
                        .aheadBytes = aheadLines * 64});
        }
      }
      done += depth;
    }
  }
}

void finish(const Bf16Block& block, const Waiting& part, int64_t row, int64_t rows, int64_t rowOfC,
            const Epilogue& epilogue) {
  float* products = part.products + row * part.stride;
  const int64_t column = block.column + part.column;
  if (block.c.bf16)
    finishBlock(products, part.stride, rows, part.columns, rowOfC, column, block.c.bf16,
                block.c.stride, epilogue);
  else
    finishBlock(products, part.stride, rows, part.columns, rowOfC, column, block.c.f32,
                block.c.stride, epilogue);
}

void finishPart(const Bf16Block& block, const Waiting& part, const Epilogue& epilogue) {
  const Bf16Rows& a = block.a;
  const int64_t first = block.row + part.row;
  if (a.pitch == 0) return finish(block, part, 0, part.rows, first, epilogue);
  for (int64_t row = 0; row < part.rows;) {  // a line at a time
    const int64_t place = (first + row) % a.pitch, line = (first + row) / a.pitch;
    const int64_t image = line / a.lines, lineOfImage = line % a.lines;
    const int64_t rows = std::min(part.rows - row, a.width - place);
    if (rows > 0 && lineOfImage < a.height)
      finish(block, part, row, rows, (image * a.height + lineOfImage) * a.width + place, epilogue);
    row += a.pitch - place;
  }
}

void multiplyPacked(const Bf16Block& block, const uint16_t* packedA, const Epilogue& epilogue) {
  alignas(64) float products[kBlocking.waitingRows * kBlocking.waitingColumns];
  for (int64_t column = 0; column < block.columns; column += kBlocking.waitingColumns)
    for (int64_t row = 0; row < block.rows; row += kBlocking.waitingRows) {
      Waiting part{.row = row,
                   .column = column,
                   .rows = std::min(kBlocking.waitingRows, block.rows - row),
                   .columns = std::min(kBlocking.waitingColumns, block.columns - column),
                   .products = products};
      part.stride = ceilDiv(part.columns, kBf16Columns) * kBf16Columns;
      multiplyPanels(block, packedA, part);
      finishPart(block, part, epilogue);
    }
}

struct Tasks {
  int64_t rows = 0, columns = 0;  // of one
  int64_t rowTasks = 0, columnTasks = 0;
  bool sharesRows = false;  // packed once for all, in front
};

// What is larger is split, so that each worker reads all of the smaller one.
Tasks divide(int64_t m, int64_t n, int64_t k, int threads, bool packs) {
  const int64_t rowPanels = ceilDiv(m, kBf16Rows), panels = ceilDiv(n, kBf16Columns);
  const double sizeOfB = static_cast<double>(n) * static_cast<double>(k);
  const double work = std::max(2.0 * static_cast<double>(m), 2 * kBlocking.flopsPerByte) * sizeOfB;
  int64_t wanted = 1;
  if (threads > 1 && work >= 2 * kBlocking.minTaskFlops)
    wanted =
        std::min(threads * kTasksPerWorker, static_cast<int64_t>(work / kBlocking.minTaskFlops));
  const int64_t leastRowTasks = ceilDiv(m, bf16BlockRows(k));
  const int64_t mostRowTasks = std::max(leastRowTasks, rowPanels / kBlocking.taskPanels);
  const bool fits = !packs || bf16RowsFloats(m, k) <= bf16GemmWorkspaceFloats(m, k, threads);
  int64_t rowTasks = std::min(std::max(leastRowTasks, wanted), mostRowTasks), columnTasks = 1;
  if (fits && n > m) rowTasks = leastRowTasks;
  if (fits) columnTasks = std::min(panels, ceilDiv(wanted, rowTasks));
  if (rowTasks * columnTasks < wanted)
    rowTasks = std::clamp(ceilDiv(wanted, columnTasks), leastRowTasks, mostRowTasks);
  Tasks tasks;
  tasks.rows = ceilDiv(rowPanels, rowTasks) * kBf16Rows;
  tasks.columns = ceilDiv(panels, columnTasks) * kBf16Columns;
  tasks.rowTasks = ceilDiv(m, tasks.rows);
  tasks.columnTasks = ceilDiv(n, tasks.columns);
  tasks.sharesRows = packs && tasks.columnTasks > 1;
  return tasks;
}

bool detectBf16() {
#if defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kBf16 = 1ul << 14;  // HWCAP2_BF16
  return (getauxval(AT_HWCAP2) & kBf16) != 0;
#elif defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace

bool hasBf16Gemm() {
  static const bool available = detectBf16();
  return available;
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
  for (int64_t column = 0; column < n; column += kBf16Columns, packed += bf16PanelHalves(k))
    packBf16Columns(b + column * (transposed ? ldb : 1), ldb, transposed, k,
                    std::min(kBf16Columns, n - column), packed);
}

void packBf16Panel(const float* a, int64_t lda, int64_t k, int64_t rows, uint16_t* panel) {
  packMatrixRows(a, lda, k, rows, panel);
}

void packBf16Panel(const uint16_t* a, int64_t lda, int64_t k, int64_t rows, uint16_t* panel) {
  packMatrixRows(a, lda, k, rows, panel);
}

int64_t bf16BlockRows(int64_t k) {
  const int64_t fitting = kBlocking.packedHalves / std::max<int64_t>(1, bf16Steps(k) * kBf16Depth);
  return std::clamp(fitting / kBf16Rows * kBf16Rows, kBlocking.fewestRows, kBlocking.mostRows);
}

int64_t bf16RowsFloats(int64_t rows, int64_t k) {
  return (wholeRows(rows) / kBf16Rows * bf16PanelHalves(k) / 2 + 15) / 16 * 16;
}

void multiplyBf16Block(const Bf16Block& block, PackBf16Panel pack, const Epilogue& epilogue,
                       float* workspace) {
  auto* packedA = reinterpret_cast<uint16_t*>(workspace);
  packRows(block, pack, packedA);
  multiplyPacked(block, packedA, epilogue);
}

int64_t bf16GemmWorkspaceFloats(int64_t m, int64_t k, int threads) {
  return threads * bf16RowsFloats(std::min(m, bf16BlockRows(k)), k);
}

void bf16Gemm(int64_t m, int64_t n, int64_t k, PackBf16Panel pack, const uint16_t* packedB,
              const Bf16Result& c, const Epilogue& epilogue, ThreadPool& pool, float* workspace,
              Bf16Rows a) {
  if (m == 0 || n == 0) return;
  const bool packs = kBf16RowsInPlace == 0 || !a.data || !a.readsBeyond;
  const Tasks tasks = divide(m, n, k, pool.threads(), packs);
  const Bf16Block all{.rows = m, .columns = n, .k = k, .a = a, .packedB = packedB, .c = c};
  auto* shared = reinterpret_cast<uint16_t*>(workspace);
  if (tasks.sharesRows)
    pool.parallelFor(ceilDiv(m, kBf16Rows), 1, [&](int64_t begin, int64_t end, int) {
      Bf16Block part = all;
      part.row = begin * kBf16Rows;
      part.rows = std::min(end * kBf16Rows, m) - part.row;
      packRows(part, pack, shared + begin * bf16PanelHalves(k));
    });
  const int64_t workerFloats = bf16GemmWorkspaceFloats(m, k, 1);
  pool.parallelFor(
      tasks.rowTasks * tasks.columnTasks, 1, [&](int64_t begin, int64_t end, int worker) {
        const TileScope tiles(bf16UsesTiles());
        for (int64_t task = begin; task < end; ++task) {
          Bf16Block block = all;
          block.row = task % tasks.rowTasks * tasks.rows;
          block.column = task / tasks.rowTasks * tasks.columns;
          block.rows = std::min(tasks.rows, m - block.row);
          block.columns = std::min(tasks.columns, n - block.column);
          block.packedB += block.column / kBf16Columns * bf16PanelHalves(k);
          if (tasks.sharesRows)
            multiplyPacked(block, shared + block.row / kBf16Rows * bf16PanelHalves(k), epilogue);
          else
            multiplyBf16Block(block, pack, epilogue, workspace + worker * workerFloats);
        }
      });
}

}  // namespace camshaft::cpu
