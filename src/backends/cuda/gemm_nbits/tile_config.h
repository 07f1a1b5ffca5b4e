// Shapes of tiles of products that unpack their weights in registers (tile.cuh).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/target.h"
#include "backends/cuda/gemm_nbits/packed.h"

namespace camshaft::cuda {

// The device code's own words: see nbits::Tiling.
struct UnpackingTile {
  int rows = 8, columns = 32;
  int warpsN = 2, slices = 4;
  int splits = 1;
  // 16 columns after another instead (stream.cuh): by how many blocks on each multiprocessor, or
  // kOnce: by a block each.
  int streams = 0;
  static constexpr int kOnce = 15;
  bool copiesMore = false;  // at once, of a stream: 4 KB instead of 2
  int threads() const { return 32 * warpsN * slices; }
  int depth() const { return static_cast<int>(kChunkDepth) * slices; }
};

// What a tile is for.
struct UnpackingProblem {
  int64_t rows = 1;
  int elementBytes = 2;      // of A
  bool hasFixedRows = true;  // `rows` is what every run has
  int64_t mostRows = 1;
  ChunkLayout layout = {};

  int storedRows(const UnpackingTile& tile) const;
  int64_t stageBytes(const UnpackingTile& tile) const;
  int64_t steps(const UnpackingTile& tile) const;  // along k, of all blocks that share it
  int unit(const UnpackingTile& tile) const;       // chunks that a stream copies at once
  int stages(const UnpackingTile& tile) const;
  int sharedBytes(const UnpackingTile& tile) const;

 private:
  int64_t streamBytes(const UnpackingTile& tile) const;  // of shared memory, but for the stages
};

// As configurations number them.
int64_t pack(const UnpackingTile& tile);
UnpackingTile unpackTile(int64_t packed);

// The best by a simple model for the target, best first.
std::vector<int64_t> promisingTiles(const UnpackingProblem& problem, const BuildTarget& target,
                                    size_t most);

// "8x32x512_split4" or "stream8x2", for names.
std::string toString(const UnpackingTile& tile);

}  // namespace camshaft::cuda
