// Convolution as a matrix product: rows are output pixels, k runs over kernel taps and channels.
// A pointwise convolution reads its rows where they lie; any other gathers a block of them at a
// time into the worker's workspace.
#include <algorithm>
#include <vector>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/conv/gather.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

// One group as a product.
struct Product {
  int64_t m, n, k;
};

Product productOf(const ConvShape& shape, const ConvExtent& extent) {
  return {extent.batch * shape.outSize(0, extent.height) * shape.outSize(1, extent.width),
          shape.outChannels / shape.groups, patchFloats(shape)};
}

// Rows gathered at a time, at most. While B stays in L2, low blocks keep the gathered rows in L1;
// otherwise B is read once per block, and blocks are as high as the partition makes them.
int64_t maxGatheredRows(const Product& p) {
  constexpr int64_t kSmallB = 192 * 1024, kBlockFloats = 5 * 1024, kMinTiles = 4;
  const int64_t mr = gemmGeometry().mr;
  if (p.k * p.n > kSmallB) return maxTaskRows(p.k);
  return std::min(maxTaskRows(p.k), std::max(kMinTiles * mr, kBlockFloats / p.k / mr * mr));
}

int64_t bufferFloats(const Product& p) {
  return (std::min(p.m, maxGatheredRows(p)) * p.k + 15) / 16 * 16;
}

}  // namespace

int64_t packedGemmConvFloats(const ConvShape& shape) {
  const Product p = productOf(shape, {});
  return shape.groups * packedBFloats(p.k, p.n);
}

void packGemmConv(const ConvShape& shape, const float* weights, float* packed) {
  const Product p = productOf(shape, {});
  for (int64_t group = 0; group < shape.groups; ++group) {
    const std::vector<float> rows = tapsFirst(shape, weights + group * p.n * p.k);
    packB(p.k, p.n, rows.data(), p.k, true, packed + group * packedBFloats(p.k, p.n));
  }
}

int64_t gemmConvWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads) {
  if (isPointwise(shape)) return 0;
  const Product p = productOf(shape, extent);
  return threads * bufferFloats(p);
}

void gemmConv(const ConvCall& call) {
  const ConvShape& shape = call.shape;
  const Product p = productOf(shape, call.extent);
  const Partition grid = partitionGemm(p.m, p.n, p.k, call.pool.threads());
  const bool inPlace = isPointwise(shape);
  const int64_t channels = shape.inChannels / shape.groups;
  const int64_t rowsAtOnce = inPlace ? grid.rows : std::min(grid.rows, maxGatheredRows(p));

  auto runTask = [&](int64_t task, float* buffer) {
    const int64_t group = task / grid.tasks(), cell = task % grid.tasks();
    const int64_t firstRow = cell % grid.rowTasks * grid.rows;
    const int64_t column = cell / grid.rowTasks * grid.columns;
    const int64_t endRow = std::min(p.m, firstRow + grid.rows);
    const float* input = call.input + group * channels;

    GemmBlock block;
    block.columns = std::min(grid.columns, p.n - column);
    block.k = p.k;
    block.lda = inPlace ? call.extent.inPixelStride : p.k;
    block.packedB = call.packed + group * packedBFloats(p.k, p.n) + column * p.k;
    block.ldc = call.extent.outPixelStride;
    block.column = group * p.n + column;
    for (int64_t row = firstRow; row < endRow; row += rowsAtOnce) {
      block.rows = std::min(rowsAtOnce, endRow - row);
      block.row = row;
      block.c = call.output + row * block.ldc + block.column;
      if (inPlace) {
        block.a = input + row * block.lda;
      } else {
        gatherPatches(shape, call.extent, input, channels, row, block.rows, buffer);
        block.a = buffer;
      }
      gemmBlock(block, call.epilogue);
    }
  };
  call.pool.parallelFor(
      shape.groups * grid.tasks(), 1, [&](int64_t begin, int64_t end, int worker) {
        float* buffer = inPlace ? nullptr : call.workspace + worker * bufferFloats(p);
        for (int64_t task = begin; task < end; ++task) runTask(task, buffer);
      });
}

}  // namespace camshaft::cpu
