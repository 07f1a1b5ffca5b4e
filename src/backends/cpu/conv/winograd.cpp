// 3x3 convolution by Winograd's F(4x4, 3x3): 36 products per tile of 16 outputs instead of 144.
#include <algorithm>
#include <vector>

#include "backends/cpu/conv/winograd_transform.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

// The map of the kernel that goes with those of winograd_transform.cpp.
constexpr double kKernelMap[6][3] = {{1.0 / 4, 0, 0},
                                     {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                     {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                     {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                     {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                     {0, 0, 1}};

int64_t aligned(int64_t floats) { return ceilDiv(floats, 16) * 16; }

// A worker takes a block of tiles through all three steps when there are enough of them, so that
// tiles stay in its L2; the weights are then read once per block. Otherwise all workers share each
// step, and read the weights once together.
constexpr int64_t kMinBlockTiles = 24;
constexpr int64_t kBlockFloats = 256 * 1024;
constexpr int64_t kSharedFloats = 4 * 1024 * 1024;

int64_t tileFloats(const ConvShape& shape) {
  return kWinogradPoints * (shape.inChannels + shape.outChannels);
}
int64_t ownBlockTiles(const ConvShape& shape) {
  return std::clamp<int64_t>(kBlockFloats / tileFloats(shape), kMinBlockTiles, 4 * kMinBlockTiles);
}
int64_t sharedBlockTiles(const ConvShape& shape) {
  return std::max<int64_t>(kMinBlockTiles, kSharedFloats / tileFloats(shape));
}

// The transformed patches of a block of tiles, and the products made of them.
struct Block {
  Block(const ConvShape& shape, int64_t tiles, float* memory)
      : patches(memory),
        patchStride(tiles * shape.inChannels),
        products(memory + aligned(kWinogradPoints * patchStride)),
        productStride(tiles * shape.outChannels) {}
  float* patches;
  int64_t patchStride;
  float* products;
  int64_t productStride;
};

int64_t blockFloats(const ConvShape& shape, int64_t tiles) {
  return aligned(kWinogradPoints * tiles * shape.inChannels) +
         aligned(kWinogradPoints * tiles * shape.outChannels);
}

// Columns [column, column + columns) of the products at one point.
void multiplyPoint(const ConvShape& shape, const float* packed, const Block& block, int64_t tiles,
                   int64_t point, int64_t column, int64_t columns) {
  const int64_t k = shape.inChannels, n = shape.outChannels;
  gemmBlock({.rows = tiles,
             .columns = columns,
             .k = k,
             .a = block.patches + point * block.patchStride,
             .lda = k,
             .packedB = packed + point * packedBFloats(k, n) + column * k,
             .c = block.products + point * block.productStride + column,
             .ldc = n},
            Epilogue());
}

void runOwnBlocks(const ConvCall& call, const float* zeros, float* memory) {
  const ConvShape& shape = call.shape;
  const int64_t total = WinogradTiles(call).total, threads = call.pool.threads();
  const int64_t most = std::min(total, ownBlockTiles(shape));
  const int64_t blocks = std::min(total, ceilDiv(ceilDiv(total, most), threads) * threads);
  call.pool.parallelFor(blocks, 1, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t tile = total * b / blocks, count = total * (b + 1) / blocks - tile;
      const Block block(shape, count, memory + worker * blockFloats(shape, most));
      winogradInput(call, tile, count, zeros, block.patches, block.patchStride);
      for (int64_t point = 0; point < kWinogradPoints; ++point) {
        multiplyPoint(shape, call.packed, block, count, point, 0, shape.outChannels);
      }
      winogradOutput(call, tile, count, block.products, block.productStride);
    }
  });
}

void runSharedBlocks(const ConvCall& call, const float* zeros, float* memory) {
  const ConvShape& shape = call.shape;
  const int64_t total = WinogradTiles(call).total, nr = gemmGeometry().nr;
  const int64_t panels = ceilDiv(shape.outChannels, nr);
  const int64_t wantedSplit = ceilDiv(4 * call.pool.threads(), kWinogradPoints);
  const int64_t columns = ceilDiv(panels, std::min(panels, wantedSplit)) * nr;
  const int64_t split = ceilDiv(shape.outChannels, columns);
  const int64_t most = sharedBlockTiles(shape);
  for (int64_t tile = 0; tile < total; tile += most) {
    const int64_t count = std::min(most, total - tile);
    const Block block(shape, count, memory);
    call.pool.parallelFor(count, 1, [&](int64_t begin, int64_t end, int) {
      winogradInput(call, tile + begin, end - begin, zeros,
                    block.patches + begin * shape.inChannels, block.patchStride);
    });
    call.pool.parallelFor(kWinogradPoints * split, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t column = task % split * columns;
        multiplyPoint(shape, call.packed, block, count, task / split, column,
                      std::min(columns, shape.outChannels - column));
      }
    });
    call.pool.parallelFor(count, 1, [&](int64_t begin, int64_t end, int) {
      winogradOutput(call, tile + begin, end - begin, block.products + begin * shape.outChannels,
                     block.productStride);
    });
  }
}

}  // namespace

int64_t packedWinogradFloats(const ConvShape& shape) {
  return kWinogradPoints * packedBFloats(shape.inChannels, shape.outChannels);
}

void packWinograd(const ConvShape& shape, const float* weights, float* packed) {
  const int64_t k = shape.inChannels, n = shape.outChannels;
  std::vector<float> atPoint(static_cast<size_t>(k * n));  // [n][k]
  for (int64_t point = 0; point < kWinogradPoints; ++point) {
    const double* down = kKernelMap[point / kWinogradPatch];
    const double* across = kKernelMap[point % kWinogradPatch];
    for (int64_t i = 0; i < n * k; ++i) {
      double sum = 0;
      for (int tap = 0; tap < 9; ++tap) {
        sum += down[tap / 3] * across[tap % 3] * static_cast<double>(weights[i * 9 + tap]);
      }
      atPoint[static_cast<size_t>(i)] = static_cast<float>(sum);
    }
    packB(k, n, atPoint.data(), k, true, packed + point * packedBFloats(k, n));
  }
}

int64_t winogradWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads) {
  const int64_t tiles = extent.batch * ceilDiv(shape.outSize(0, extent.height), kWinogradTile) *
                        ceilDiv(shape.outSize(1, extent.width), kWinogradTile);
  const int64_t own = threads * blockFloats(shape, std::min(tiles, ownBlockTiles(shape)));
  const int64_t shared = blockFloats(shape, std::min(tiles, sharedBlockTiles(shape)));
  return aligned(shape.inChannels) + std::max(own, shared);
}

void winogradConv(const ConvCall& call) {
  float* zeros = call.workspace;
  float* memory = zeros + aligned(call.shape.inChannels);
  std::fill(zeros, memory, 0.0f);
  if (WinogradTiles(call).total >= call.pool.threads() * kMinBlockTiles) {
    runOwnBlocks(call, zeros, memory);
  } else {
    runSharedBlocks(call, zeros, memory);
  }
}

}  // namespace camshaft::cpu
