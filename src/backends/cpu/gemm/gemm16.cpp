#include "backends/cpu/gemm/gemm16.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "support/error.h"
#include "support/half.h"
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
static_assert(kBlocking.waitingRows % kRows16 == 0);
static_assert(kBlocking.waitingColumns % kColumns16 == 0);
// A few tasks per worker, as in partition.cpp.
constexpr int64_t kTasksPerWorker = 4;

int64_t wholeRows(int64_t rows) { return ceilDiv(rows, kRows16) * kRows16; }

template <class T>
void packMatrixRows(const T* a, int64_t lda, int64_t k, int64_t rows, const Panel16& panel) {
#if defined(__x86_64__)
  if (panel.type == Type16::kBf16) return packBf16Matrix(a, lda, rows, k, panel.steps);
#endif
  const T* from[kRows16];
  for (int64_t i = 0; i < rows; ++i) from[i] = a + i * lda;
  packRows16(from, rows, k, panel);
}

float* factorsOf(uint16_t* panel, int64_t k) {
  return reinterpret_cast<float*>(panel + steps16(k) * kStepHalves16);
}
const float* factorsOf(const uint16_t* panel, int64_t k) {
  return reinterpret_cast<const float*>(panel + steps16(k) * kStepHalves16);
}

// What a row is to be multiplied by, whose largest number is `most` times 1 / `scale`. Numbers that
// f16 ends before look alike, and are looked at again in a lower range, until only infinities are
// left.
float scaleFor(float most, float scale) {
  constexpr float kLower = 0x1p-24f, kLowest = 0x1p-120f;
  if (!std::isfinite(most)) return std::max(scale * kLower, kLowest);
  const float least = scale == 1 ? kLeastOfF16Rows : kMostOfF16Rows / 4;
  if (most == 0 || (most >= least && most < kMostOfF16Rows)) return scale;
  return std::scalbn(kMostOfF16Rows / 2, -std::ilogb(most / scale));
}

// A panel of f16: as the numbers are, and again where they do not suit it.
void packScaled(PackPanel16 pack, int64_t row, int64_t rows, int64_t k, uint16_t* panel) {
  float scales[kRows16];
  std::fill_n(scales, kRows16, 1.0f);
  for (bool isScaled = false;; isScaled = true) {
    uint16_t largest[kRows16] = {};
    pack(row, rows, {Type16::kF16, panel, isScaled ? scales : nullptr, largest});
    bool isChanged = false;
    for (int64_t i = 0; i < rows; ++i) {
      const float scale = scaleFor(static_cast<float>(Half::fromBits(largest[i])), scales[i]);
      isChanged |= scale != scales[i];
      scales[i] = scale;
    }
    if (!isChanged) break;
  }
  float* factors = factorsOf(panel, k);
  for (int64_t i = 0; i < kRows16; ++i) factors[i] = 1 / scales[i];
}

void packPanel(Type16 type, PackPanel16 pack, int64_t row, int64_t rows, int64_t k,
               uint16_t* panel) {
  if (type == Type16::kF16)
    packScaled(pack, row, rows, k, panel);
  else
    pack(row, rows, {.steps = panel});
}

// The panel of the block's rows from `row` on: packed, or the rows themselves.
struct PanelOfA {
  const uint16_t* data;
  int64_t row, step;  // halves between rows and steps
  const int64_t* taps = nullptr;
  int64_t tapCount = 1;
};

bool isReadInPlace(const Block16& block, int64_t row) {
  constexpr int64_t kWhole = std::max<int64_t>(1, kRowsInPlace16);
  const bool isWhole = block.a.readsBeyond || std::min(kRows16, block.rows - row) % kWhole == 0;
  return kRowsInPlace16 > 0 && block.a.data && isWhole &&
         block.k / block.a.tapCount % kDepth16 == 0;
}

PanelOfA panelOf(const Block16& block, const uint16_t* packedA, int64_t row) {
  if (isReadInPlace(block, row))
    return {block.a.data + (block.row + row) * block.a.stride, block.a.stride, kDepth16,
            block.a.taps, block.a.tapCount};
  return {packedA + row / kRows16 * panelHalves16(block.type, block.k), kDepth16, kStepHalves16};
}

void packRows(const Block16& block, PackPanel16 pack, uint16_t* packedA) {
  for (int64_t row = 0; row < block.rows; row += kRows16)
    if (!isReadInPlace(block, row))
      packPanel(block.type, pack, block.row + row, std::min(kRows16, block.rows - row), block.k,
                packedA + row / kRows16 * panelHalves16(block.type, block.k));
}

// A part of a block whose products wait together.
struct Waiting {
  int64_t row, column, rows, columns;
  float* products;
  int64_t stride;  // floats between its rows
};

// How a panel of A, one of so many, fetches its part of a panel of weights: lines at each step.
struct FetchPlan {
  int64_t runs, lines;  // of each run
  explicit FetchPlan(int64_t rowPanels) {
    constexpr int64_t kMostRuns = 4, kStepLines = kStepHalves16 * 2 / kCacheLine;
    const int64_t perStep = ceilDiv(kStepLines, rowPanels);
    lines = ceilDiv(perStep, kMostRuns);
    runs = ceilDiv(perStep, lines);
  }
};

// All panels of A together fetch as many columns ahead as they read.
void multiplyPanels(const Block16& block, const uint16_t* packedA, const Waiting& part) {
  const int64_t steps = steps16(block.k), packedK = std::max(block.k, block.packedK);
  const int64_t panelHalves = panelHalves16(block.type, packedK);
  const bool isF16 = block.type == Type16::kF16;
  const auto multiply = isF16 ? multiplyF16 : multiplyBf16;
  const int64_t passes = std::max<int64_t>(1, ceilDiv(steps, kBlocking.passSteps));
  const int64_t rowPanels = ceilDiv(block.rows, kRows16);
  const FetchPlan fetch(rowPanels);
  const int64_t endRow = part.row + part.rows;
  for (int64_t group = 0; group < part.columns; group += kBlocking.groupColumns) {
    const int64_t end = std::min(part.columns, group + kBlocking.groupColumns);
    int64_t done = 0;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t depth = ceilDiv(steps - done, passes - pass);
      for (int64_t row = part.row; row < endRow; row += kRows16) {
        const PanelOfA a = panelOf(block, packedA, row);
        for (int64_t panel = group; panel < end; panel += kColumns16) {
          const uint16_t* columns =
              block.packedB + (part.column + panel) / kColumns16 * panelHalves;
          const uint16_t* b = columns + done * kStepHalves16;
          const int64_t runBytes = depth * fetch.lines * kCacheLine;
          const char* ahead = block.ahead.at(columns, panelHalves * 2);
          multiply({.a = a.data + done * a.step,
                    .aRow = a.row,
                    .aStep = a.step,
                    .taps = a.taps,
                    .tapCount = a.tapCount,
                    .b = b,
                    .rowFactors = isF16 ? factorsOf(a.data, block.k) : nullptr,
                    .columnFactors = isF16 ? factorsOf(columns, packedK) : nullptr,
                    .steps = depth / a.tapCount,
                    .rows = endRow - row,
                    .columns = part.columns - panel,
                    .accumulate = pass > 0,
                    .products = part.products + (row - part.row) * part.stride + panel,
                    .stride = part.stride,
                    .ahead = ahead ? ahead + row / kRows16 * runBytes : nullptr,
                    .aheadLines = fetch.lines,
                    .aheadRuns = ahead ? fetch.runs : 0,
                    .aheadStride = rowPanels * runBytes});
        }
      }
      done += depth;
    }
  }
}

void finish(const Block16& block, const Waiting& part, int64_t row, int64_t rows, int64_t rowOfC,
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

void finishPart(const Block16& block, const Waiting& part, const Epilogue& epilogue) {
  forRowsOfC(block.a, block.row + part.row, part.rows,
             [&](int64_t row, int64_t rows, int64_t rowOfC) {
               finish(block, part, row, rows, rowOfC, epilogue);
             });
}

void multiplyPacked(const Block16& block, const uint16_t* packedA, const Epilogue& epilogue) {
  alignas(64) float products[kBlocking.waitingRows * kBlocking.waitingColumns];
  for (int64_t column = 0; column < block.columns; column += kBlocking.waitingColumns)
    for (int64_t row = 0; row < block.rows; row += kBlocking.waitingRows) {
      Waiting part{.row = row,
                   .column = column,
                   .rows = std::min(kBlocking.waitingRows, block.rows - row),
                   .columns = std::min(kBlocking.waitingColumns, block.columns - column),
                   .products = products};
      part.stride = ceilDiv(part.columns, kColumns16) * kColumns16;
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
Tasks divide(Type16 type, int64_t m, int64_t n, int64_t k, int threads, bool packs) {
  const int64_t rowPanels = ceilDiv(m, kRows16), panels = ceilDiv(n, kColumns16);
  const double sizeOfB = static_cast<double>(n) * static_cast<double>(k);
  const double work = std::max(2.0 * static_cast<double>(m), 2 * kBlocking.flopsPerByte) * sizeOfB;
  int64_t wanted = 1;
  if (threads > 1 && work >= 2 * kBlocking.minTaskFlops)
    wanted =
        std::min(threads * kTasksPerWorker, static_cast<int64_t>(work / kBlocking.minTaskFlops));
  const int64_t leastRowTasks = ceilDiv(m, blockRows16(k));
  const int64_t mostRowTasks = std::max(leastRowTasks, rowPanels / kBlocking.taskPanels);
  const bool fits =
      !packs || rows16Floats(type, m, k) <= gemm16WorkspaceFloats(type, m, k, threads);
  int64_t rowTasks = std::min(std::max(leastRowTasks, wanted), mostRowTasks), columnTasks = 1;
  if (fits && n > m) rowTasks = leastRowTasks;
  if (fits) columnTasks = std::min(panels, ceilDiv(wanted, rowTasks));
  if (rowTasks * columnTasks < wanted)
    rowTasks = std::clamp(ceilDiv(wanted, columnTasks), leastRowTasks, mostRowTasks);
  Tasks tasks;
  tasks.rows = ceilDiv(rowPanels, rowTasks) * kRows16;
  tasks.columns = ceilDiv(panels, columnTasks) * kColumns16;
  tasks.rowTasks = ceilDiv(m, tasks.rows);
  tasks.columnTasks = ceilDiv(n, tasks.columns);
  tasks.sharesRows = packs && tasks.columnTasks > 1;
  return tasks;
}

#if defined(__aarch64__) && defined(__linux__)
bool detect(Type16 type) {
  constexpr unsigned long kF16Vectors = 1ul << 10;  // HWCAP_ASIMDHP
  constexpr unsigned long kBf16 = 1ul << 14;        // HWCAP2_BF16
  return type == Type16::kF16 ? (getauxval(AT_HWCAP) & kF16Vectors) != 0
                              : (getauxval(AT_HWCAP2) & kBf16) != 0;
}
#elif defined(__x86_64__)
bool detect(Type16 type) {
  __builtin_cpu_init();
  return type == Type16::kBf16 && __builtin_cpu_supports("avx512bf16") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#else
bool detect(Type16) { return false; }
#endif

}  // namespace

bool hasGemm16(Type16 type) {
  static const bool bf16 = detect(Type16::kBf16), f16 = detect(Type16::kF16);
  return type == Type16::kF16 ? f16 : bf16;
}

void requireGemm16(Type16 type) {
  if (!hasGemm16(type))
    fail(ErrorKind::kInvalidEngine, "the engine was built for a CPU that multiplies ",
         type == Type16::kF16 ? "f16 vectors" : "bf16 matrices",
         ", which this one does not; build it again on this machine");
}

int64_t packedB16Floats(Type16 type, int64_t k, int64_t n) {
  return ceilDiv(n, kColumns16) * panelHalves16(type, k) / 2;
}

void packB16(Type16 type, int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed,
             uint16_t* packed) {
  for (int64_t column = 0; column < n; column += kColumns16, packed += panelHalves16(type, k)) {
    const float* from = b + column * (transposed ? ldb : 1);
    const int64_t columns = std::min(kColumns16, n - column);
    if (type == Type16::kF16)
      packF16Columns(from, ldb, transposed, k, columns, packed);
    else
      packBf16Columns(from, ldb, transposed, k, columns, packed);
  }
}

#if defined(__x86_64__)
void packB16(int64_t k, int64_t n, const uint16_t* b, int64_t ldb, bool transposed,
             uint16_t* packed) {
  const int64_t panelHalves = panelHalves16(Type16::kBf16, k);
  for (int64_t column = 0; column < n; column += kColumns16, packed += panelHalves)
    packBf16Columns(b + column * (transposed ? ldb : 1), ldb, transposed, k,
                    std::min(kColumns16, n - column), packed);
}
#else
void packB16(int64_t, int64_t, const uint16_t*, int64_t, bool, uint16_t*) {
  fail(ErrorKind::kInternal, "only x86-64 stores what is packed in bf16");
}
#endif

void packRows16(const float* const* from, int64_t rows, int64_t count, const Panel16& panel) {
  if (panel.type == Type16::kF16)
    packF16Rows(from, rows, count, panel);
  else
    packBf16Rows(from, rows, count, panel.steps);
}

void packRows16(const uint16_t* const* from, int64_t rows, int64_t count, const Panel16& panel) {
  packBf16Rows(from, rows, count, panel.steps);
}

void packPanel16(const float* a, int64_t lda, int64_t k, int64_t rows, const Panel16& panel) {
  packMatrixRows(a, lda, k, rows, panel);
}

void packPanel16(const uint16_t* a, int64_t lda, int64_t k, int64_t rows, const Panel16& panel) {
  packMatrixRows(a, lda, k, rows, panel);
}

int64_t blockRows16(int64_t k) {
  const int64_t fitting = kBlocking.packedHalves / std::max<int64_t>(1, steps16(k) * kDepth16);
  return std::clamp(fitting / kRows16 * kRows16, kBlocking.fewestRows, kBlocking.mostRows);
}

int64_t rows16Floats(Type16 type, int64_t rows, int64_t k) {
  return (wholeRows(rows) / kRows16 * panelHalves16(type, k) / 2 + 15) / 16 * 16;
}

void multiplyBlock16(const Block16& block, PackPanel16 pack, const Epilogue& epilogue,
                     float* workspace) {
  auto* packedA = reinterpret_cast<uint16_t*>(workspace);
  packRows(block, pack, packedA);
  multiplyPacked(block, packedA, epilogue);
}

int64_t gemm16WorkspaceFloats(Type16 type, int64_t m, int64_t k, int threads) {
  return threads * rows16Floats(type, std::min(m, blockRows16(k)), k);
}

void gemm16(Type16 type, int64_t m, int64_t n, int64_t k, PackPanel16 pack, const uint16_t* packedB,
            const Result16& c, const Epilogue& epilogue, ThreadPool& pool, float* workspace,
            Rows16 a, std::span<const std::byte> upcoming) {
  if (m == 0 || n == 0) return;
  const bool packs = kRowsInPlace16 == 0 || !a.data || !a.readsBeyond;
  const Tasks tasks = divide(type, m, n, k, pool.threads(), packs);
  const Block16 all{
      .type = type, .rows = m, .columns = n, .k = k, .a = a, .packedB = packedB, .c = c};
  const int64_t panelHalves = panelHalves16(type, k);
  auto* shared = reinterpret_cast<uint16_t*>(workspace);
  if (tasks.sharesRows)
    pool.parallelFor(ceilDiv(m, kRows16), 1, [&](int64_t begin, int64_t end, int) {
      Block16 part = all;
      part.row = begin * kRows16;
      part.rows = std::min(end * kRows16, m) - part.row;
      packRows(part, pack, shared + begin * panelHalves);
    });
  const int64_t workerFloats = gemm16WorkspaceFloats(type, m, k, 1);
  const int64_t count = tasks.rowTasks * tasks.columnTasks;
  const ThreadPool::Shares shares = pool.sharesOf(count, 1);
  const SharedWeights weights(shares, packedB, tasks.rowTasks,
                              tasks.columns / kColumns16 * panelHalves * 2,
                              ceilDiv(n, kColumns16) * panelHalves * 2, upcoming);
  pool.parallelFor(count, 1, [&](int64_t begin, int64_t end, int worker) {
    const TileScope tiles(bf16UsesTiles());
    for (int64_t task = begin; task < end; ++task) {
      Block16 block = all;
      block.row = task % tasks.rowTasks * tasks.rows;
      block.column = task / tasks.rowTasks * tasks.columns;
      block.rows = std::min(tasks.rows, m - block.row);
      block.columns = std::min(tasks.columns, n - block.column);
      block.packedB += block.column / kColumns16 * panelHalves;
      block.ahead = weights.from(task, worker);
      if (tasks.sharesRows)
        multiplyPacked(block, shared + block.row / kRows16 * panelHalves, epilogue);
      else
        multiplyBlock16(block, pack, epilogue, workspace + worker * workerFloats);
    }
  });
}

}  // namespace camshaft::cpu
