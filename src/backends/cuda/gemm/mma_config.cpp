#include "backends/cuda/gemm/mma_config.h"

#include <algorithm>
#include <cmath>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

struct TileShape {
  int rows, columns, warpsM, warpsN;
};
constexpr TileShape kTiles[] = {{64, 32, 2, 2},   {64, 64, 2, 2},  {32, 64, 1, 4},
                                {128, 32, 4, 1},  {128, 64, 2, 2}, {64, 128, 2, 2},
                                {128, 128, 2, 4}, {256, 64, 4, 2}};
constexpr int kRowBytes[] = {64, 128};
constexpr int kSplits[] = {1, 2, 4, 8};

int stageBytes(const MmaConfig& c) { return (c.rows + c.columns) * c.rowBytes; }

MmaConfig configOf(const TileShape& tile, int rowBytes, int splits) {
  return {.rows = tile.rows,
          .columns = tile.columns,
          .rowBytes = rowBytes,
          .warpsM = tile.warpsM,
          .warpsN = tile.warpsN,
          .splits = splits};
}

int64_t withoutDepth(int64_t packed) { return packed & ~int64_t{0xff00}; }

int64_t blocksOf(const MmaConfig& c, const MmaProblem& p) {
  return (p.rows + c.rows - 1) / c.rows * ((p.columns + c.columns - 1) / c.columns) * p.batch *
         c.splits;
}

}  // namespace

// Copies under way hide the latency of memory; two blocks still fit a multiprocessor.
int MmaConfig::stages() const {
  constexpr int kMostBytes = 96 << 10, kFewest = 3, kMost = 6;
  return std::clamp(kMostBytes / stageBytes(*this), kFewest, kMost);
}

int MmaConfig::sharedBytes() const {
  return std::max(stages() * stageBytes(*this), rows * (columns + 8) * 4);
}

int64_t pack(const MmaConfig& c) {
  const auto tile = std::find_if(std::begin(kTiles), std::end(kTiles), [&](const TileShape& t) {
    return t.rows == c.rows && t.columns == c.columns;
  });
  return (tile - std::begin(kTiles)) | c.rowBytes << 8 | c.splits << 16;
}

MmaConfig unpackMma(int64_t packed) {
  return configOf(kTiles[packed & 255], packed >> 8 & 255, static_cast<int>(packed >> 16));
}

double estimateMicros(const MmaConfig& c, const MmaProblem& p, int multiprocessors) {
  constexpr double kClock = 1.7e3;             // cycles per microsecond
  constexpr double kMultiplyPerCycle = 2200;   // of a multiprocessor: multiply-adds times bytes
  constexpr double kMatrixLoadPerCycle = 100;  // bytes from shared memory to registers
  constexpr double kCopyPerCycle = 40;         // bytes into a multiprocessor from L2
  constexpr double kLatency = 900;             // cycles of a copy
  constexpr double kStart = 2.0, kJoin = 1.0;
  const double blocks = static_cast<double>(blocksOf(c, p));
  const int64_t depth = c.depth(p.type);
  const double steps = std::max(1.0, static_cast<double>((p.depth + depth - 1) / depth) / c.splits);
  const int perSm = std::min<int>(std::min((220 << 10) / c.sharedBytes(), 512 / c.threads()), 4);
  const double together = std::min<double>(perSm, std::max(1.0, blocks / multiprocessors));
  const double warpBytes =
      static_cast<double>(c.rowBytes) * (c.warpsN * c.rows + c.warpsM * c.columns);
  const double perStep =
      std::max({static_cast<double>(c.rows) * c.columns * c.rowBytes / kMultiplyPerCycle,
                warpBytes / kMatrixLoadPerCycle, stageBytes(c) / kCopyPerCycle});
  const double waves = std::max(1.0, blocks / multiprocessors / together);
  const double cycles = kLatency +
                        steps * std::max(perStep * together, kLatency / (c.stages() - 1)) +
                        c.rows * c.columns / 16.0 / c.splits * together;
  const double wholeWaves = blocks > 4.0 * multiprocessors ? waves : std::ceil(waves - 0.01);
  const double bytes =
      bitsOf(p.type) / 8.0 * static_cast<double>(p.batch) *
      (static_cast<double>(p.rows) * std::min<double>(p.depth, p.columns * 2.0) +
       static_cast<double>(p.columns) * p.depth + static_cast<double>(p.rows) * p.columns);
  return kStart + (c.splits > 1 ? kJoin : 0) +
         std::max(wholeWaves * cycles / kClock, bytes / 4.0e6);
}

void appendPromising(std::vector<int64_t>& packed, const MmaProblem& problem,
                     const BuildTarget& target, size_t most) {
  constexpr int kClusters = 90;  // the compute capability that has them
  std::vector<std::pair<double, int64_t>> ranked;
  for (const TileShape& tile : kTiles)
    for (int rowBytes : kRowBytes)
      for (int splits : kSplits) {
        const MmaConfig config = configOf(tile, rowBytes, splits);
        if (config.sharedBytes() > target.sharedBytesPerBlock) continue;
        if (splits > 1 && (target.computeCapability < kClusters ||
                           problem.depth < int64_t{2} * config.depth(problem.type) * splits ||
                           blocksOf(config, problem) > 3 * target.multiprocessors))
          continue;
        ranked.emplace_back(estimateMicros(config, problem, target.multiprocessors), pack(config));
      }
  std::stable_sort(ranked.begin(), ranked.end());
  // Of a shape, both depths are worth timing only where it is the best.
  const auto isShapeOf = [](int64_t a) {
    return [a](int64_t b) { return withoutDepth(a) == withoutDepth(b); };
  };
  for (const auto& [micros, config] : ranked) {
    if (most == 0) return;
    const bool isBest = isShapeOf(ranked[0].second)(config);
    if (isBest ? std::find(packed.begin(), packed.end(), config) != packed.end()
               : std::any_of(packed.begin(), packed.end(), isShapeOf(config)))
      continue;
    packed.push_back(config);
    --most;
  }
}

bool fillsHopper(const MmaProblem& problem, const BuildTarget& target) {
  constexpr double kSmallestTile = 64 * 64;
  return static_cast<double>(problem.rows) * problem.columns * problem.batch >=
         kSmallestTile * target.multiprocessors;
}

std::string whyNoMma(const BuildTarget& target, DataType a, DataType b) {
  const auto isByte = [](DataType type) { return type == DataType::kI8 || type == DataType::kU8; };
  const bool areBytes = isByte(a) && isByte(b);
  if (!areBytes && (a != b || (a != DataType::kF16 && a != DataType::kBF16)))
    return str("multiplies bytes, and f16 or bf16 by the same type, not ", a, " by ", b);
  if (areBytes ? target.computeCapability < 75 : !hasMma(target))
    return str("needs a GPU of compute capability ", areBytes ? "7.5" : "8.0");
  return {};
}

int64_t mmaPitch(int64_t depth, DataType type) {
  const int64_t step = std::end(kRowBytes)[-1] * 8 / bitsOf(type);
  return (depth + step - 1) / step * step;
}

std::string toString(const MmaConfig& c, DataType type) {
  return str(type, "_", c.rows, "x", c.columns, "x", c.depth(type),
             c.splits > 1 ? str("_split", c.splits) : "");
}

void printTile(KernelText& kernel, const MmaConfig& config, DataType a, DataType b,
               const Dim& tilesN, const Dim& tilesM, const std::string& steps) {
  kernel.early +=
      str("  extern __shared__ __align__(128) char memory[];\n  using Tile = mma::Tiling<",
          storageType(a), ", ", storageType(b), ", ", config.rows, ", ", config.columns, ", ",
          config.rowBytes, ", ", config.warpsM, ", ", config.warpsN, ", ", config.stages(), ", ",
          config.splits, ">;\n  const mma::TilePlace<Tile> tile(", kernel.size(tilesN), ", ",
          kernel.size(tilesM), ", ", steps,
          ");\n  mma::Product<Tile> product;\n"
          "#ifdef CAMSHAFT_EMULATOR\n  if (tile.rank > 0) return;\n#endif\n");
}

}  // namespace camshaft::cuda
