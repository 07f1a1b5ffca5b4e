#include "backends/cuda/gemm_nbits/tile_config.h"

#include <algorithm>
#include <cmath>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr UnpackingTile kTiles[] = {
    {8, 16, 1, 4},  {8, 32, 2, 2},   {8, 16, 1, 8},  {8, 32, 2, 4},  {8, 64, 4, 2},
    {8, 64, 4, 1},  {16, 32, 2, 4},  {16, 64, 4, 2}, {32, 64, 4, 2}, {32, 128, 4, 1},
    {64, 64, 4, 1}, {64, 128, 4, 1}, {64, 256, 8, 1}};
constexpr int kSplits[] = {1, 2, 4, 8};

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t blocksOf(const UnpackingTile& tile, const UnpackingProblem& problem) {
  return ceilDivide(problem.rows, tile.rows) * ceilDivide(problem.layout.columns, tile.columns) *
         tile.splits;
}

// Microseconds: waves of blocks, each bound by memory, by the tensor cores or by what unpacks, and
// the latency of a few steps.
double estimateMicros(const UnpackingTile& tile, const UnpackingProblem& problem,
                      int multiprocessors) {
  constexpr double kClock = 1.7e3;           // cycles per microsecond
  constexpr double kMultiplyPerCycle = 900;  // multiply-adds of a multiprocessor
  constexpr double kUnpackPerCycle = 60;     // weights that a multiprocessor unpacks
  constexpr double kCopyPerCycle = 20;       // bytes into a multiprocessor from memory
  constexpr double kLatency = 1200;          // cycles of a copy
  constexpr double kStart = 2.0, kJoin = 1.0;
  const auto blocks = static_cast<double>(blocksOf(tile, problem));
  const int stages = problem.stages(tile), shared = problem.sharedBytes(tile);
  const double perSm = std::min<int>((220 << 10) / shared, 1024 / tile.threads());
  const double together = std::min<double>(perSm, std::max(1.0, blocks / multiprocessors));
  const double area = static_cast<double>(tile.columns) * tile.depth();
  const double perStep = std::max({static_cast<double>(problem.stageBytes(tile)) / kCopyPerCycle,
                                   area * tile.rows / kMultiplyPerCycle, area / kUnpackPerCycle});
  const double steps = std::ceil(static_cast<double>(problem.steps(tile)) / tile.splits);
  const double cycles = kLatency + steps * std::max(perStep * together, kLatency / (stages - 1));
  const double waves = std::max(1.0, blocks / multiprocessors / together);
  const double wholeWaves = blocks > 4.0 * multiprocessors ? waves : std::ceil(waves - 0.01);
  return kStart + (tile.splits > 1 ? kJoin : 0) + wholeWaves * cycles / kClock;
}

}  // namespace

int UnpackingProblem::storedRows(const UnpackingTile& tile) const {
  return hasFixedRows ? static_cast<int>(std::min<int64_t>(rows, tile.rows)) : tile.rows;
}

int64_t UnpackingProblem::stageBytes(const UnpackingTile& tile) const {
  const int64_t rowBytes = tile.depth() * elementBytes + 64;
  return ceilDivide(storedRows(tile) * rowBytes, 128) * 128 +
         tile.columns / kChunkColumns * tile.slices * layout.chunkBytes();
}

int64_t UnpackingProblem::steps(const UnpackingTile& tile) const {
  return ceilDivide(layout.chunks(), tile.slices);
}

// Copies under way hide the latency of memory; two blocks still fit a multiprocessor.
int UnpackingProblem::stages(const UnpackingTile& tile) const {
  constexpr int64_t kMostBytes = 96 << 10, kFewest = 2, kMost = 8;
  const int64_t useful = ceilDivide(steps(tile), tile.splits) + 1;
  return static_cast<int>(
      std::clamp(std::min(kMostBytes / stageBytes(tile), useful), kFewest, kMost));
}

int UnpackingProblem::sharedBytes(const UnpackingTile& tile) const {
  const int64_t sums = int64_t{tile.slices} * tile.rows * (tile.columns + 8) * 4;
  return static_cast<int>(std::max(stages(tile) * stageBytes(tile), sums));
}

int64_t pack(const UnpackingTile& tile) {
  const auto* const shape =
      std::find_if(std::begin(kTiles), std::end(kTiles), [&](const UnpackingTile& t) {
        return t.rows == tile.rows && t.columns == tile.columns && t.slices == tile.slices;
      });
  return (shape - std::begin(kTiles)) | tile.splits << 8;
}

UnpackingTile unpackTile(int64_t packed) {
  UnpackingTile tile = kTiles[packed & 255];
  tile.splits = static_cast<int>(packed >> 8);
  return tile;
}

std::vector<int64_t> promisingTiles(const UnpackingProblem& problem, const BuildTarget& target,
                                    size_t most) {
  constexpr int kClusters = 90;  // the compute capability that has them
  std::vector<std::pair<double, int64_t>> ranked;
  for (UnpackingTile tile : kTiles)
    for (int splits : kSplits) {
      tile.splits = splits;
      if (problem.sharedBytes(tile) > target.sharedBytesPerBlock) continue;
      if (splits > 1 && (target.computeCapability < kClusters || problem.steps(tile) < splits ||
                         blocksOf(tile, problem) > 4 * target.multiprocessors))
        continue;
      ranked.emplace_back(estimateMicros(tile, problem, target.multiprocessors), pack(tile));
    }
  std::stable_sort(ranked.begin(), ranked.end());
  std::vector<int64_t> best;
  for (const auto& [micros, config] : ranked)
    if (best.size() < most) best.push_back(config);
  return best;
}

std::string toString(const UnpackingTile& tile) {
  return str(tile.rows, "x", tile.columns, "x", tile.depth(),
             tile.splits > 1 ? str("_split", tile.splits) : "");
}

}  // namespace camshaft::cuda
