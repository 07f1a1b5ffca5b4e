#include "backends/cpu/gemm/partition.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm.h"

namespace camshaft::cpu {

namespace {

// What a task reads of A in one pass over k stays in L2 beside a panel of B ...
constexpr int64_t kPassDepth = 512;
constexpr int64_t kBlockFloats = 64 * 1024;
// ... but B comes from further away, once per row block, so that blocks are never too low.
constexpr int64_t kMinBlockRows = 64;

// A few tasks per worker let a worker that was interrupted fall behind without holding the others
// up; less than this much work is not worth a task.
constexpr int64_t kTasksPerWorker = 4;
constexpr double kMinTaskFlops = 400e3;

// In the time that a byte of B takes to arrive from memory, a core does this many operations: what
// products of few rows cost.
constexpr double kFlopsPerByte = 12;

}  // namespace

int64_t maxTaskRows(int64_t k) {
  const int64_t depth = std::max<int64_t>(1, std::min(k, kPassDepth)), mr = gemmGeometry().mr;
  return ceilDiv(std::max(kMinBlockRows, kBlockFloats / depth), mr) * mr;
}

Partition partitionGemm(int64_t m, int64_t n, int64_t k, int threads) {
  const GemmGeometry tile = gemmGeometry();
  const int64_t tileRows = ceilDiv(m, tile.mr), panels = ceilDiv(n, tile.nr);
  const double sizeOfB = static_cast<double>(n) * static_cast<double>(k);
  const double work =
      std::max(2.0 * static_cast<double>(m) * sizeOfB, kFlopsPerByte * sizeof(float) * sizeOfB);
  int64_t wanted = 1;
  if (threads > 1 && work >= 2 * kMinTaskFlops) {
    wanted = std::min(threads * kTasksPerWorker, static_cast<int64_t>(work / kMinTaskFlops));
    wanted = std::max<int64_t>(wanted, std::min<int64_t>(threads, tileRows * panels));
  }

  int64_t rowTasks = 1, columnTasks = 1;
  if (splitsColumns(m, n)) {
    columnTasks = std::min(panels, wanted);
    columnTasks = ceilDiv(panels, ceilDiv(panels, columnTasks));
    rowTasks = std::min(tileRows, ceilDiv(wanted, columnTasks));
  } else {
    rowTasks = std::min(tileRows, wanted);
    columnTasks = std::min(panels, ceilDiv(wanted, rowTasks));
  }
  rowTasks = std::max(rowTasks, ceilDiv(m, maxTaskRows(k)));

  Partition partition;
  partition.rows = ceilDiv(tileRows, std::max<int64_t>(1, rowTasks)) * tile.mr;
  partition.columns = ceilDiv(panels, columnTasks) * tile.nr;
  partition.rowTasks = ceilDiv(m, partition.rows);
  partition.columnTasks = ceilDiv(n, partition.columns);
  return partition;
}

}  // namespace camshaft::cpu
