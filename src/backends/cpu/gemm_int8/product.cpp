#include "backends/cpu/gemm_int8/product.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "support/thread_pool.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// Packed rows that stay in L2 beside blocks of B.
constexpr int64_t kPackedBytes = 384 * 1024, kFewestRows = 32;
// Tasks per worker. Each packs its rows again, so columns are split only where rows are few, and
// into fewer parts.
constexpr int64_t kTasksPerWorker = 4, kColumnTasksPerWorker = 2;
// Byte products per addition of parallel.h's measure; of few rows, the time is that of reading B.
constexpr double kProductsPerWork = 64;
constexpr int64_t kRowsWorthReading = 8;
constexpr int64_t kQuadBytes = 4;

static_assert(kScratchSlack % 64 == 0);

int64_t roundedUp(int64_t bytes) { return ceilDiv(bytes, 64) * 64; }

// Rows of one task at most.
int64_t mostRows(const Layout& layout, int64_t m, int64_t k) {
  const int64_t fitting = kPackedBytes / std::max<int64_t>(1, layout.steps(k) * layout.depth);
  const int64_t rows =
      std::clamp(fitting / layout.stripRows * layout.stripRows, kFewestRows, kBlockRows);
  return std::min(rows, ceilDiv(m, layout.stripRows) * layout.stripRows);
}

// One worker's part of the workspace.
struct Worker {
  uint8_t* strips;
  uint8_t* scratch;
  int32_t* rowSums;
  int64_t bytes;

  Worker(std::byte* base, int worker, const Layout& layout, int64_t m, int64_t k) {
    // No more for smaller sizes, although these take more rows.
    const int64_t rowBytes = layout.steps(k) * layout.depth;
    const int64_t rows = std::min(kBlockRows, ceilDiv(m, layout.stripRows) * layout.stripRows);
    const int64_t all =
        roundedUp(std::min(rows * rowBytes, std::max(kPackedBytes, kFewestRows * rowBytes)));
    const int64_t one = roundedUp(layout.stripBytes(k)) + kScratchSlack, sums = roundedUp(rows * 4);
    bytes = all + one + sums;
    if (!base) return;
    base += worker * bytes;
    strips = reinterpret_cast<uint8_t*>(base);
    scratch = strips + all;
    rowSums = reinterpret_cast<int32_t*>(scratch + one);
  }
};

struct Tasks {
  int64_t rows = 0, columns = 0;  // of one
  int64_t rowTasks = 0, columnTasks = 0;
};

// Rows that are packed: as many as stay in cache.
Tasks dividePacked(const Product& product, int threads) {
  const int64_t strips = ceilDiv(product.m, product.layout->stripRows);
  const int64_t blocks = ceilDiv(product.n, kBlockColumns);
  const int64_t most = mostRows(*product.layout, product.m, product.k);
  int64_t rowTasks = ceilDiv(product.m, most);
  const int64_t enough = ceilDiv(kTasksPerWorker * threads, product.parts);
  if (rowTasks > 1 && rowTasks < enough)
    rowTasks = ceilDiv(rowTasks, threads) * threads;  // as much for everybody
  rowTasks = std::min(rowTasks, strips);
  Tasks tasks;
  tasks.rows = ceilDiv(strips, rowTasks) * product.layout->stripRows;
  tasks.rowTasks = ceilDiv(product.m, tasks.rows);
  const int64_t columnTasks = tasks.rowTasks >= enough
                                  ? 1
                                  : std::min(blocks, ceilDiv(kColumnTasksPerWorker * threads,
                                                             tasks.rowTasks * product.parts));
  tasks.columns = ceilDiv(blocks, columnTasks) * kBlockColumns;
  tasks.columnTasks = ceilDiv(product.n, tasks.columns);
  return tasks;
}

// Strips of a task, so that the last worker is done soonest; an odd one takes as long as one and a
// half of a pair.
int64_t stripsOfTask(int64_t strips, int threads) {
  int64_t best = strips, bestTime = std::numeric_limits<int64_t>::max();
  for (int64_t each = 2; each <= kTasksPerWorker; ++each) {
    const int64_t size = ceilDiv(strips, each * threads);
    const int64_t time = ceilDiv(ceilDiv(strips, size), threads) * (2 * size + size % 2);
    if (time < bestTime) {
      best = size;
      bestTime = time;
    }
  }
  return best;
}

// Rows of a task where any number of them takes as long as it has rows.
int64_t rowsOfTask(int64_t m, int threads) {
  constexpr int64_t kWorthReading = 64;  // columns, for so many rows
  const int64_t tasks = std::clamp<int64_t>(m / (kWorthReading * threads), 1, kTasksPerWorker);
  return ceilDiv(m, tasks * threads);
}

// Rows in place: the larger matrix is split, so that a worker reads the smaller one alone whole.
Tasks divideInPlace(const Product& product, bool inStrips, int64_t m, int threads) {
  const int64_t strips = ceilDiv(m, product.layout->stripRows);
  const int64_t blocks = ceilDiv(product.n, kBlockColumns);
  const int64_t rowBytes = product.k / product.rows.tapCount;
  const int64_t stripRows = product.layout->stripRows;
  const int64_t fitting = std::max(kBlockRows, kPackedBytes / rowBytes) / stripRows * stripRows;
  int64_t taskBlocks = blocks, rows = 0;
  if (product.n > m) {
    taskBlocks = ceilDiv(blocks, std::min(blocks, kColumnTasksPerWorker * threads));
    rows = ceilDiv(strips, ceilDiv(threads, ceilDiv(blocks, taskBlocks))) * stripRows;
  } else {
    rows = inStrips ? stripsOfTask(strips, threads) * stripRows : rowsOfTask(m, threads);
  }
  Tasks tasks;
  tasks.rows = std::min(rows, fitting);
  tasks.columns = taskBlocks * kBlockColumns;
  tasks.rowTasks = ceilDiv(m, tasks.rows);
  tasks.columnTasks = ceilDiv(product.n, tasks.columns);
  return tasks;
}

// Sums of the rows of one strip.
template <class Byte>
void sumStrip(const Layout& layout, const Byte* strip, int64_t k, int32_t* sums) {
  std::fill(sums, sums + layout.stripRows, 0);
  for (int64_t step = 0; step < layout.steps(k); ++step) {
    for (int64_t row = 0; row < layout.stripRows; ++row, strip += layout.depth) {
      int32_t sum = 0;
      for (int64_t i = 0; i < layout.depth; ++i) sum += strip[i];
      sums[row] += sum;
    }
  }
}

// Where byte `i` of a column of a block lies.
int64_t placeInBlock(const Layout& layout, int64_t k, int64_t column, int64_t i) {
  const int64_t step = i / layout.depth, inStep = i % layout.depth;
  if (layout.kind == Layout::Kind::kPairs)
    return (column / 8 * layout.steps(k) + step) * 64 + column % 8 * 8 + inStep;
  if (layout.kind == Layout::Kind::kPanels)
    return column / 16 * layout.steps(k) * 256 + i / 4 * 64 + column % 16 * 4 + i % 4;
  return (step * 2 + column / 16) * 1024 + inStep / 4 * 64 + column % 16 * 4 + inStep % 4;
}

}  // namespace

int64_t packedColumnsBytes(const Layout& layout, int64_t k, int64_t n) {
  return ceilDiv(n, kBlockColumns) * layout.blockBytes(k);
}

void packColumns(const Layout& layout, int64_t k, int64_t n, const uint8_t* b, bool transposed,
                 uint8_t flip, uint8_t* packed, int32_t* sums) {
  const int64_t rowStep = transposed ? 1 : n, columnStep = transposed ? k : 1;
  for (int64_t column = 0; column < n; column += kBlockColumns)
    packBlockPlainly(layout, k, b + column * columnStep, rowStep, columnStep,
                     std::min(kBlockColumns, n - column), flip,
                     packed + column / kBlockColumns * layout.blockBytes(k), sums + column);
}

void packBlockPlainly(const Layout& layout, int64_t k, const uint8_t* b, int64_t rowStep,
                      int64_t columnStep, int64_t columns, uint8_t flip, uint8_t* block,
                      int32_t* sums) {
  std::memset(block, 0, layout.blockBytes(k));
  std::fill(sums, sums + kBlockColumns, 0);
  for (int64_t column = 0; column < columns; ++column) {
    const uint8_t* from = b + column * columnStep;
    for (int64_t i = 0; i < k; ++i, from += rowStep) {
      const uint8_t value = *from ^ flip;
      block[placeInBlock(layout, k, column, i)] = value;
      sums[column] += static_cast<int8_t>(value);
    }
  }
}

int64_t multiplyWorkspaceBytes(const Layout& layout, int64_t m, int64_t k, int threads) {
  return threads * Worker(nullptr, 0, layout, m, k).bytes;
}

namespace {

// Pointers to rows of A for the rows of C from `first` on.
class Scattered {
 public:
  Scattered(const Rows16& a, int64_t first, int64_t count) {
    int64_t place = first % a.width, line = first / a.width % a.height,
            image = first / (a.width * a.height);
    for (int64_t i = 0; i < count; ++place, ++i) {
      if (place == a.width) {
        place = 0;
        if (++line == a.height) line = 0, ++image;
      }
      const int64_t row = (image * a.lines + line) * a.pitch + place;
      rows_[i] = reinterpret_cast<const uint8_t*>(a.data + row * a.stride);
    }
  }
  const uint8_t* const* rows() const { return rows_; }

 private:
  const uint8_t* rows_[kBlockRows];
};

// Where the parts of rows begin when those side by side are one, if all become as long.
std::vector<int64_t> joinedParts(const Rows16& a, int64_t k) {
  const int64_t pairs = k / a.tapCount / 2;
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < a.tapCount; ++i)
    if (i == 0 || a.taps[i] - a.taps[i - 1] != pairs) begins.push_back(i);
  const auto runs = static_cast<int64_t>(begins.size()), each = a.tapCount / runs;
  for (int64_t i = 0; i < runs; ++i)
    if (begins[i] != i * each || runs * each != a.tapCount) return {a.taps, a.taps + a.tapCount};
  for (int64_t& begin : begins) begin = a.taps[begin];
  return begins;
}

// One task of a product by one worker.
class Task {
 public:
  Task(const Product& product, const Multiplier& multiplier, int64_t m, const Rows16& a,
       const Tasks& tasks, int64_t number, const Worker& worker, const WeightsAhead& ahead)
      : product_(product),
        layout_(*product.layout),
        multiplier_(multiplier),
        a_(a),
        worker_(worker),
        ahead_(ahead) {
    const int64_t tasksOfPart = tasks.rowTasks * tasks.columnTasks;
    const int64_t inPart = number % tasksOfPart;
    part_ = number / tasksOfPart;
    row_ = inPart % tasks.rowTasks * tasks.rows;
    rows_ = std::min(tasks.rows, m - row_);
    column_ = inPart / tasks.rowTasks * tasks.columns;
    endColumn_ = std::min(product.n, column_ + tasks.columns);
    const int64_t wholeStrips = rows_ / layout_.stripRows * layout_.stripRows;
    const bool areAll = a.readsBeyond || multiplier.readsAnyRows;
    inPlace_ = !a.data ? 0 : areAll ? rows_ : wholeStrips;
  }

  // The rows that are not read in place.
  void packRows(PackStrip pack) const {
    const int64_t k = product_.k;
    for (int64_t done = inPlace_; done < rows_; done += layout_.stripRows) {
      uint8_t* strip = stripAt(done);
      pack(part_, row_ + done, std::min(layout_.stripRows, rows_ - done), strip, worker_.scratch);
      if (!product_.sumsRows) continue;
      int32_t* sums = worker_.rowSums + done;
      if (layout_.rowsAreSigned)
        sumStrip(layout_, reinterpret_cast<const int8_t*>(strip), k, sums);
      else
        sumStrip(layout_, strip, k, sums);
    }
  }

  void multiply(FunctionRef<void(const Sums&)> finish) const {
    alignas(64) int32_t sums[kBlockRows * kBlockColumns];
    int64_t blocks = 0;
    for (int64_t column = column_; column < endColumn_; column += blocks * kBlockColumns) {
      blocks = std::min(blocksFrom(column), blocksAtOnce());
      const int64_t most = rowsAtOnce(blocks);
      for (int64_t done = 0; done < rows_; done += most) {
        const int64_t count = std::min(most, rows_ - done);
        multiplyBlocks(column, blocks, done, count, sums);
        for (int64_t block = 0; block < blocks; ++block)
          finishBlock(column + block * kBlockColumns, done, count,
                      sums + block * (kBlockRows / blocks) * kBlockColumns, finish);
      }
    }
  }

 private:
  uint8_t* stripAt(int64_t row) const {
    return worker_.strips + (row - inPlace_) / layout_.stripRows * layout_.stripBytes(product_.k);
  }
  int64_t columnsAt(int64_t column) const { return std::min(kBlockColumns, product_.n - column); }
  int64_t blocksFrom(int64_t column) const { return ceilDiv(endColumn_ - column, kBlockColumns); }
  // More than one only where they stay in L2 beside the next ones.
  int64_t blocksAtOnce() const {
    constexpr int64_t kMostBytes = 80 * 1024;
    return layout_.blockBytes(product_.k) <= kMostBytes ? multiplier_.blocksAtOnce : 1;
  }
  // Of so many blocks: whole strips, or as often as possible all rows that the multiplier takes.
  int64_t rowsAtOnce(int64_t blocks) const {
    const int64_t most = kBlockRows / blocks, taken = multiplier_.rowsAtOnce / blocks;
    return inPlace_ < rows_ ? most : most / taken * taken;
  }

  void finishBlock(int64_t column, int64_t done, int64_t count, const int32_t* sums,
                   FunctionRef<void(const Sums&)> finish) const {
    const int32_t* ofRows = product_.sumsRows ? worker_.rowSums + done : nullptr;
    const Rows16 places = multiplier_.usesTiles ? a_ : Rows16();
    forRowsOfC(places, row_ + done, count, [&](int64_t first, int64_t some, int64_t rowOfC) {
      finish(
          {sums + first * kBlockColumns, ofRows, rowOfC, column, some, columnsAt(column), part_});
    });
  }

  // Rows [first, first + count), those in place and those packed. Meanwhile their part of as many
  // columns ahead is fetched.
  void multiplyBlocks(int64_t column, int64_t blocks, int64_t first, int64_t count,
                      int32_t* sums) const {
    const int64_t blockBytes = layout_.blockBytes(product_.k);
    const auto* columns = reinterpret_cast<const int8_t*>(product_.packedColumns) +
                          part_ * packedColumnsBytes(layout_, product_.k, product_.n);
    const Block whole{.b = columns + column / kBlockColumns * blockBytes,
                      .k = product_.k,
                      .blocks = blocks,
                      .columns = columnsAt(column + (blocks - 1) * kBlockColumns),
                      .sums = sums};
    Block block = whole;
    if (const char* next = ahead_.at(whole.b, blocks * blockBytes)) {
      const int64_t most = rowsAtOnce(blocks);
      block.nextBytes = blocks * blockBytes / ceilDiv(rows_, most);
      block.next = next + first / most * block.nextBytes;
    }
    const int64_t inPlace = std::clamp<int64_t>(inPlace_ - first, 0, count);
    if (inPlace > 0) {
      block.taps = a_.taps;
      block.tapCount = a_.tapCount;
      block.rows = inPlace;
      multiplyInPlace(block, row_ + first);
      block = whole;
      block.sums += inPlace * kBlockColumns;
    }
    if (inPlace == count) return;
    block.a = stripAt(first + inPlace);
    block.rows = count - inPlace;
    multiplier_.multiply(block);
  }

  void multiplyInPlace(Block& block, int64_t row) const {
    if (multiplier_.readsAnyRows && a_.pitch > 0) {
      const Scattered scattered(a_, row, block.rows);
      block.scattered = scattered.rows();
      return multiplier_.multiply(block);
    }
    block.a = reinterpret_cast<const uint8_t*>(a_.data + row * a_.stride);
    block.rowStride = 2 * a_.stride;
    multiplier_.multiply(block);
  }

  const Product& product_;
  const Layout& layout_;
  const Multiplier& multiplier_;
  const Rows16& a_;
  const Worker& worker_;
  const WeightsAhead ahead_;
  int64_t part_, row_, rows_, column_, endColumn_;
  int64_t inPlace_;  // the first of its rows
};

}  // namespace

bool readsInPlace(const Layout& layout, int64_t m, int64_t partBytes) {
  const Multiplier& multiplier = multiplierFor(layout, m);
  return multiplier.usesTiles ? partBytes % layout.depth == 0
                              : multiplier.readsAnyRows && partBytes % kQuadBytes == 0;
}

void multiply(const Product& product, PackStrip pack, ThreadPool& pool, std::byte* workspace,
              FunctionRef<void(const Sums&)> finish) {
  const Layout& layout = *product.layout;
  const int64_t n = product.n, k = product.k;
  if (product.m == 0 || n == 0 || product.parts == 0) return;
  const Multiplier& multiplier = multiplierFor(layout, product.m);
  const bool isInPlace = product.rows.data && !product.sumsRows &&
                         readsInPlace(layout, product.m, k / product.rows.tapCount);
  Rows16 a = isInPlace ? product.rows : Rows16();
  std::vector<int64_t> parts;
  if (multiplier.readsAnyRows && a.taps) {
    parts = joinedParts(a, k);
    a.taps = parts.data();
    a.tapCount = static_cast<int64_t>(parts.size());
  }
  const int64_t m =
      isInPlace && multiplier.usesTiles && product.places > 0 ? product.places : product.m;
  const Tasks tasks = isInPlace ? divideInPlace(product, multiplier.usesTiles, m, pool.threads())
                                : dividePacked(product, pool.threads());
  const int64_t count = tasks.rowTasks * tasks.columnTasks * product.parts;
  const ThreadPool::Shares shares = pool.sharesOf(count, 1);
  const int64_t blockBytes = layout.blockBytes(k);
  const SharedWeights weights(shares, product.packedColumns, tasks.rowTasks,
                              tasks.columns / kBlockColumns * blockBytes,
                              ceilDiv(n, kBlockColumns) * blockBytes, product.upcoming);
  const auto run = [&](int64_t begin, int64_t end, int thread) {
    const TileScope tiles(multiplier.usesTiles);
    const Worker worker(workspace, thread, layout, m, k);
    for (int64_t number = begin; number < end; ++number) {
      const WeightsAhead ahead = product.parts == 1 ? weights.from(number, thread) : WeightsAhead();
      const Task task(product, multiplier, m, a, tasks, number, worker, ahead);
      task.packRows(pack);
      task.multiply(finish);
    }
  };
  const double taskProducts = static_cast<double>(std::max(kRowsWorthReading, tasks.rows)) *
                              static_cast<double>(tasks.columns) * static_cast<double>(k);
  if (!isWorthSharing(taskProducts / kProductsPerWork * static_cast<double>(count)))
    run(0, count, 0);
  else
    pool.parallelFor(count, 1, run);
}

}  // namespace camshaft::cpu::gemm_int8
