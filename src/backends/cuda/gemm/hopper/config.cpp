#include "backends/cuda/gemm/hopper/config.h"

#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int64_t kMostShared = 227 << 10;
constexpr int kLineBytes = 128;  // of an operand's row in a stage

// Bytes of `columns` sums in f32, padded against bank conflicts.
int64_t pitchOf(int columns) { return 4 * (columns % 16 == 0 ? columns + 8 : columns); }

// Means and factors of rows.
int64_t momentsBytes(const HopperConfig& config) {
  return config.normalises ? int64_t{8} * config.tileM * (config.pingPong ? 2 : 1) : 0;
}

int64_t sumsBytes(const HopperConfig& config) {
  if (config.residualTiles > 0) return 0;  // results take the residual's place
  if (config.splitK > 1) {
    const int rows = (config.tileM + config.splitK - 1) / config.splitK;
    return config.splitK * rows * pitchOf(config.tileN);
  }
  const int n = config.tileN;
  const bool isLarge = config.tileM + n >= 320;
  const int chunk = n % 64 == 0 && !isLarge ? 64 : n % 32 == 0 ? 32 : n % 16 == 0 ? 16 : 8;
  return config.consumers * 64 * pitchOf(chunk);
}

int64_t stageBytes(const HopperConfig& config) {
  return static_cast<int64_t>(config.tileM + config.tileN) * kLineBytes;
}

int64_t residualTileBytes(const HopperConfig& config) {
  return int64_t{config.tileM} * config.tileN * config.residualBytes;
}

// Shared memory that a block may have.
int64_t roomFor(const HopperConfig& config) {
  return kMostShared / config.blocksPerSm - (config.blocksPerSm > 1 ? 1024 : 0);
}

int accumulators(const HopperConfig& config) {
  return config.tileM * config.tileN / 128 / (config.pingPong ? 1 : config.consumers);
}

// With turns a warpgroup holds a tile until it has multiplied the next but one.
int leastResidualTiles(const HopperConfig& config) { return config.pingPong ? 3 : 2; }

// Lines of its tiles are as long as a swizzle.
bool hasResidualTiles(const HopperConfig& c) {
  return c.residualTiles >= leastResidualTiles(c) && c.residualTiles <= 8 && c.splitK == 1 &&
         (c.residualBytes == 1 || c.residualBytes == 2) && c.tileN * c.residualBytes % 64 == 0;
}

}  // namespace

int clusterSize(const HopperConfig& config) {
  return config.splitK * config.shareA * config.shareB;
}

int threadsOf(const HopperConfig& config) {
  const bool movesRegisters =
      config.consumers == 2 && config.blocksPerSm == 1 && accumulators(config) > 64;
  return config.consumers * 128 + (movesRegisters ? 128 : 32);
}

int64_t sharedBytesOf(const HopperConfig& config) {
  constexpr int64_t kAlignment = 1024, kBarriers = 16;
  return kAlignment + kBarriers + config.stages * (stageBytes(config) + kBarriers) +
         config.residualTiles * (residualTileBytes(config) + kBarriers) + sumsBytes(config) +
         momentsBytes(config);
}

HopperConfig withStages(HopperConfig config, int most) {
  config.stages = most;
  while (config.stages > 2 && sharedBytesOf(config) > roomFor(config)) --config.stages;
  return config;
}

// With turns one more than has to be, where it fits, so that copies have time.
HopperConfig withResidual(const HopperConfig& config, int bytes) {
  if (bytes == 0 || config.splitK > 1) return config;
  HopperConfig with = config;
  with.residualBytes = bytes;
  const int least = leastResidualTiles(config), most = config.pingPong ? least + 1 : least;
  for (with.residualTiles = most; with.residualTiles >= least; --with.residualTiles)
    if (const HopperConfig fitting = withStages(with, config.stages);
        hasResidualTiles(fitting) && sharedBytesOf(fitting) <= roomFor(config))
      return fitting;
  return config;
}

int residualLine(const HopperConfig& config) {
  constexpr int kWide = 128, kNarrow = 64;  // the swizzles
  return config.tileN * config.residualBytes % kWide == 0 ? kWide : kNarrow;
}

bool isValid(const HopperConfig& c, bool transposedA, bool transposedB) {
  const int rowUnit = 64 * (c.pingPong ? 1 : c.consumers);
  if (c.consumers < 1 || c.consumers > 2 || (c.pingPong && c.consumers != 2)) return false;
  if (c.tileM < 64 || c.tileM > 256 || c.tileM % rowUnit != 0) return false;
  if (c.tileN < 8 || c.tileN > 256 || c.tileN % 8 != 0) return false;
  if (c.stages < 2 || c.stages > 16 || c.splitK < 1 || (c.pingPong && c.splitK > 1)) return false;
  if (c.shareA < 1 || c.shareB < 1 || (c.shareA > 1 && c.shareB > 1)) return false;
  if (clusterSize(c) > 16) return false;
  if (c.normalises && (c.splitK > 1 || transposedA)) return false;
  if (c.tileM % (c.shareA * (transposedA ? 64 : 8)) != 0) return false;
  if (c.tileN % (c.shareB * (transposedB ? 8 : 64)) != 0) return false;
  if (c.blocksPerSm < 1 || c.blocksPerSm > (c.consumers == 1 ? 3 : 2)) return false;
  if (accumulators(c) > (c.blocksPerSm > 1 ? 64 : 160)) return false;
  if ((c.residualTiles > 0 || c.residualBytes > 0) && !hasResidualTiles(c)) return false;
  return sharedBytesOf(c) <= roomFor(c);
}

int64_t pack(const HopperConfig& c) {
  int64_t packed = int{c.normalises};
  for (int field : {c.residualTiles << 2 | c.residualBytes, c.tileM / 64, c.tileN / 8, c.consumers,
                    int{c.pingPong}, c.stages, c.splitK, c.shareA, c.shareB, c.blocksPerSm})
    packed = packed << 6 | field;
  return packed;
}

HopperConfig unpackHopper(int64_t packed) {
  const auto take = [&] {
    const int field = packed & 63;
    packed >>= 6;
    return field;
  };
  HopperConfig c;
  c.blocksPerSm = take();
  c.shareB = take();
  c.shareA = take();
  c.splitK = take();
  c.stages = take();
  c.pingPong = take() != 0;
  c.consumers = take();
  c.tileN = take() * 8;
  c.tileM = take() * 64;
  const int residual = take();
  c.residualTiles = residual >> 2;
  c.residualBytes = residual & 3;
  c.normalises = packed != 0;
  return c;
}

std::string toString(const HopperConfig& c) {
  std::string text = str(c.tileM, "x", c.tileN);
  if (c.pingPong)
    text += "_pingpong";
  else if (c.consumers == 1)
    text += "_single";
  if (c.splitK > 1) text += str("_splitk", c.splitK);
  if (c.shareA > 1) text += str("_sharea", c.shareA);
  if (c.shareB > 1) text += str("_shareb", c.shareB);
  if (c.blocksPerSm > 1) text += str("_x", c.blocksPerSm);
  if (c.residualTiles > 0) text += str("_residual", c.residualTiles);
  if (c.normalises) text += "_norm";
  return text + str("_stages", c.stages);
}

}  // namespace camshaft::cuda
