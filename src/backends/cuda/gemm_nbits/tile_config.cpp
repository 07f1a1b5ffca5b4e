#include "backends/cuda/gemm_nbits/tile_config.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr UnpackingTile kTiles[] = {
    {8, 16, 1, 4},  {8, 32, 2, 2},   {8, 16, 1, 8},  {8, 32, 2, 4},  {8, 64, 4, 2},
    {8, 64, 4, 1},  {16, 32, 2, 4},  {16, 64, 4, 2}, {32, 64, 4, 2}, {32, 128, 4, 1},
    {64, 64, 4, 1}, {64, 128, 4, 1}, {64, 256, 8, 1}};
constexpr int kSplits[] = {1, 2, 4, 8};

constexpr UnpackingTile streamOf(int slices, int streams, bool copiesMore = false) {
  return {8, 16, 1, slices, 1, streams, copiesMore};
}
constexpr UnpackingTile kOneStream = streamOf(16, 1), kTwoStreams = streamOf(8, 2, true);
constexpr UnpackingTile kStreams[] = {kOneStream,
                                      kTwoStreams,
                                      streamOf(8, 2),
                                      streamOf(8, 1),
                                      streamOf(8, UnpackingTile::kOnce),
                                      streamOf(8, 3),
                                      streamOf(8, 4),
                                      streamOf(4, 4),
                                      streamOf(4, UnpackingTile::kOnce)};

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

// How many times 16 columns the busiest multiprocessor has, and what their beginnings cost besides.
double columnsOfBusiest(const UnpackingTile& tile, const UnpackingProblem& problem,
                        int multiprocessors) {
  constexpr double kBegin = 0.3, kFewWarps = 0.2;
  const int64_t tiles = problem.layout.tiles() / problem.layout.halves,
                even = ceilDivide(tiles, multiprocessors);
  if (tile.streams == UnpackingTile::kOnce) return static_cast<double>(even) + kBegin;
  const int64_t blocks = int64_t{tile.streams} * multiprocessors;
  const int64_t most = tiles <= blocks ? even : ceilDivide(tiles, blocks) * tile.streams;
  return static_cast<double>(most) + (tile.streams * tile.slices < 16 ? kFewWarps : 0);
}

// Whether one stream has all of its weights under way before the kernel waits for others, work for
// every warp and a stage to spare: so large a block has its multiprocessor to itself.
bool holdsAllWeights(const UnpackingProblem& problem, int multiprocessors) {
  const int64_t tiles =
      ceilDivide(problem.layout.tiles() / problem.layout.halves, multiprocessors) *
      problem.layout.halves;
  const int64_t steps = ceilDivide(tiles * problem.layout.chunks() * problem.layout.chunkBytes(),
                                   problem.stageBytes(kOneStream));
  return problem.layout.bits < 16 && steps > 1 && steps < problem.stages(kOneStream);
}

// What a product of few bits is in a step of one token, where kernels that are fast alone are not
// the fast ones: those behind them begin to copy when these end. Microseconds between the ends of
// kernels of a Llama-8B's layer: behind attention 3.5 to 4.0 for 4096x4096 in one stream that holds
// all weights, and 5.9 in two; gate and up 19.5, down 8.0 and, behind that, queries, keys and
// values 7.7 as the tuner chose them, and 17.9, 10.2 and 5.9 in two streams.
std::optional<UnpackingTile> tileOfOneToken(const UnpackingProblem& problem, int multiprocessors) {
  if (holdsAllWeights(problem, multiprocessors)) return kOneStream;
  if (problem.layout.bits <= 4 && problem.hasFixedRows && problem.rows == 1) return kTwoStreams;
  return std::nullopt;
}

// Streams that fit, best first.
std::vector<int64_t> promisingStreams(const UnpackingProblem& problem, const BuildTarget& target) {
  constexpr int kBulkCopies = 90, kMostRows = 8;  // the compute capability that has them
  if (target.computeCapability < kBulkCopies || problem.mostRows > kMostRows) return {};
  std::vector<std::pair<double, int64_t>> ranked;
  for (const UnpackingTile& tile : kStreams) {
    // One block a multiprocessor was timed with 4 bits alone.
    if (problem.layout.bits == 16 && tile.streams == 1) continue;
    if (tile.copiesMore && problem.unit(tile) == 1) continue;  // it does not
    const int64_t together = tile.streams == UnpackingTile::kOnce ? 1 : tile.streams;
    if ((problem.sharedBytes(tile) + 1024) * together > target.sharedBytesPerBlock) continue;
    ranked.emplace_back(columnsOfBusiest(tile, problem, target.multiprocessors), pack(tile));
  }
  std::stable_sort(ranked.begin(), ranked.end());
  std::vector<int64_t> best;
  for (const auto& [columns, config] : ranked) best.push_back(config);
  return best;
}

}  // namespace

int UnpackingProblem::storedRows(const UnpackingTile& tile) const {
  return hasFixedRows ? static_cast<int>(std::min<int64_t>(rows, tile.rows)) : tile.rows;
}

// As StreamTiling lays it out, with room for what some lack.
int64_t UnpackingProblem::streamBytes(const UnpackingTile& tile) const {
  constexpr int64_t kBarriers = 1024, kAligned = 2 * 128;
  const int64_t heldBytes = layout.bits < 16 ? 8192 : 0;
  const int64_t stored = storedRows(tile), depth = layout.chunks() * kChunkDepth;
  const int64_t tileSums = tile.slices * stored * kChunkColumns * 4,
                squares = stored * layout.chunks() * 4,
                sums = std::max({heldBytes, layout.halves * tileSums, squares}),
                partSums = layout.bits < 16 ? stored * depth / layout.scaleDepth() * 4 : 0;
  return kBarriers + sums + partSums + stored * (depth * elementBytes + 64) + kAligned;
}

int64_t UnpackingProblem::stageBytes(const UnpackingTile& tile) const {
  if (tile.streams) return tile.slices * unit(tile) * layout.chunkBytes();
  const int64_t rowBytes = tile.depth() * elementBytes + 64;
  return ceilDivide(storedRows(tile) * rowBytes, 128) * 128 +
         tile.columns / kChunkColumns * tile.slices * layout.chunkBytes();
}

int UnpackingProblem::unit(const UnpackingTile& tile) const {
  return std::max(1, (tile.copiesMore ? 16 : 8) / static_cast<int>(layout.bits));
}

int64_t UnpackingProblem::steps(const UnpackingTile& tile) const {
  return ceilDivide(layout.chunks(), tile.slices);
}

// Copies under way hide the latency of memory; two blocks still fit a multiprocessor.
int UnpackingProblem::stages(const UnpackingTile& tile) const {
  constexpr int64_t kFewest = 2, kMost = 8;
  const int64_t useful = ceilDivide(steps(tile), tile.splits) + 1;
  if (tile.streams) {
    // More copies under way, or more room for the next kernel's blocks, whose copies begin while
    // these end: with 110 KB a step with 4 bits took a quarter longer than with 150, with 200 a
    // twentieth.
    constexpr int64_t kOnce = 56 << 10;
    const int64_t together = (layout.bits < 16 ? 150 : 110) << 10;
    const bool isOnce = tile.streams == UnpackingTile::kOnce;
    const int64_t own = (isOnce ? kOnce : together / tile.streams) - streamBytes(tile);
    return static_cast<int>(
        std::clamp(std::min(own / stageBytes(tile), isOnce ? useful - 1 : kMost), kFewest, kMost));
  }
  constexpr int64_t kMostBytes = 96 << 10;
  return static_cast<int>(
      std::clamp(std::min(kMostBytes / stageBytes(tile), useful), kFewest, kMost));
}

int UnpackingProblem::sharedBytes(const UnpackingTile& tile) const {
  if (tile.streams) return static_cast<int>(streamBytes(tile) + stages(tile) * stageBytes(tile));
  const int64_t sums = int64_t{tile.slices} * tile.rows * (tile.columns + 8) * 4;
  return static_cast<int>(std::max(stages(tile) * stageBytes(tile), sums));
}

int64_t pack(const UnpackingTile& tile) {
  if (tile.streams) return tile.slices | int{tile.copiesMore} << 8 | tile.streams << 16;
  const auto* const shape =
      std::find_if(std::begin(kTiles), std::end(kTiles), [&](const UnpackingTile& t) {
        return t.rows == tile.rows && t.columns == tile.columns && t.slices == tile.slices;
      });
  return (shape - std::begin(kTiles)) | tile.splits << 8;
}

UnpackingTile unpackTile(int64_t packed) {
  if (const int streams = static_cast<int>(packed >> 16))
    return streamOf(static_cast<int>(packed & 255), streams, (packed >> 8 & 1) != 0);
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
  // Where there are streams, they are the better guess.
  constexpr size_t kTilesBesideStreams = 1;
  std::vector<int64_t> best = promisingStreams(problem, target);
  if (const auto tile = tileOfOneToken(problem, target.multiprocessors))
    if (std::find(best.begin(), best.end(), pack(*tile)) != best.end()) return {pack(*tile)};
  best.resize(std::min(best.size(), most - kTilesBesideStreams));
  for (const auto& [micros, config] : ranked)
    if (best.size() < most) best.push_back(config);
  return best;
}

std::string toString(const UnpackingTile& tile) {
  if (tile.streams)
    return str("stream", tile.slices,
               tile.streams == UnpackingTile::kOnce ? "" : str("x", tile.streams),
               tile.copiesMore ? "_wide" : "");
  return str(tile.rows, "x", tile.columns, "x", tile.depth(),
             tile.splits > 1 ? str("_split", tile.splits) : "");
}

}  // namespace camshaft::cuda
