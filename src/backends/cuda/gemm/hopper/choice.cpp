#include "backends/cuda/gemm/hopper/choice.h"

#include <algorithm>

namespace camshaft::cuda {
namespace {

std::vector<HopperConfig> listConfigs() {
  std::vector<HopperConfig> list;
  const auto add = [&](const HopperConfig& config, int mostStages = 8) {
    list.push_back(withStages(config, mostStages));
  };
  for (int share : {1, 2}) {
    add({.tileM = 128, .tileN = 256, .shareB = share});
    add({.tileM = 256, .tileN = 128, .shareA = share});
    add({.tileM = 128, .tileN = 192, .shareB = share});
    add({.tileM = 128, .tileN = 160, .shareB = share});
    add({.tileM = 128, .tileN = 128, .pingPong = true, .shareB = share});
    add({.tileM = 128, .tileN = 160, .pingPong = true, .shareB = share});
    add({.tileM = 64, .tileN = 256, .pingPong = true, .shareB = share});
    add({.tileM = 128, .tileN = 128, .shareB = share});
  }
  add({.tileM = 128, .tileN = 256, .shareA = 2});
  add({.tileM = 64, .tileN = 192, .pingPong = true});
  add({.tileM = 256, .tileN = 96});
  add({.tileM = 256, .tileN = 64});
  add({.tileM = 128, .tileN = 128, .blocksPerSm = 2}, 3);
  // Many rows of few columns: what is added up is little beside what is stored.
  add({.tileM = 256, .tileN = 64, .pingPong = true});
  add({.tileM = 128, .tileN = 64, .blocksPerSm = 2}, 4);
  // And with much to do for each element.
  add({.tileM = 64, .tileN = 128, .consumers = 1, .blocksPerSm = 3}, 3);
  for (int n : {32, 48, 64, 80, 96, 112}) add({.tileM = 128, .tileN = n});
  for (int n : {32, 48, 64, 96, 128}) add({.tileM = 64, .tileN = n, .consumers = 1});
  for (int split : {2, 3, 4, 6, 8}) {
    for (int n : {32, 48, 64, 96, 128}) add({.tileM = 128, .tileN = n, .splitK = split});
    for (int n : {32, 64, 96, 128}) add({.tileM = 64, .tileN = n, .consumers = 1, .splitK = split});
  }
  for (int n : {64, 96}) add({.tileM = 128, .tileN = n, .splitK = 2, .shareA = 2});
  for (int n : {64, 96}) add({.tileM = 64, .tileN = n, .consumers = 1, .splitK = 2, .shareB = 2});
  return list;
}

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Blocks of a multiprocessor by shared memory and by registers: the compiler is told when blocks of
// two warpgroups shall share them.
int blocksPerMultiprocessor(const HopperConfig& c) {
  constexpr int64_t kAll = 228 << 10, kReserved = 1 << 10;
  const int byRegisters = c.consumers == 1 ? 3 : c.blocksPerSm;
  return static_cast<int>(std::min<int64_t>(byRegisters, kAll / (sharedBytesOf(c) + kReserved)));
}

// Clusters that run at once. Large ones leave parts of the groups of multiprocessors idle.
int64_t clustersAtOnce(const HopperConfig& c, int multiprocessors) {
  const int size = clusterSize(c), blocks = blocksPerMultiprocessor(c);
  const double usable = size <= 2 ? 1.0 : size == 6 && blocks == 1 ? 0.78 : 0.9;
  return std::max<int64_t>(static_cast<int64_t>(usable * multiprocessors * blocks / size), 1);
}

// With no more stages than a block fills, where that lets all blocks run at once. Otherwise one
// block each on many multiprocessors is better than several on a few, which is how clusters that
// find room are placed.
HopperConfig withUsefulStages(const HopperConfig& config, const HopperProblem& problem,
                              int multiprocessors) {
  const HopperArguments arguments = argumentsOf(config, problem);
  if (arguments.tiles <= clustersAtOnce(config, multiprocessors)) return config;
  const int steps = static_cast<int>(divideUp(arguments.steps, config.splitK));
  HopperConfig lean = config;
  if (config.consumers == 2) lean.blocksPerSm = 2;
  lean.stages = std::max(std::min(config.stages, steps), 2);
  for (; lean.stages >= std::clamp(steps, 2, 3); --lean.stages)
    if (isValid(lean, problem.transposedA, problem.transposedB) &&
        arguments.tiles <= clustersAtOnce(lean, multiprocessors))
      return lean;
  return config;
}

// The constants below are fitted to times on an H200.
constexpr double kClock = 1.75e3;  // cycles per microsecond

// Cycles of one step along K of a block that has the multiprocessor to itself.
double cyclesPerStep(const HopperConfig& c) {
  constexpr double kMultiplyPerCycle = 1600;  // multiply-adds
  constexpr double kFetchPerCycle = 55;       // bytes out of L2
  constexpr double kFillPerCycle = 90;        // bytes into shared memory, with what others fetch
  return std::max({64.0 * c.tileM * c.tileN / kMultiplyPerCycle,
                   128.0 * (c.tileM / c.shareA + c.tileN / c.shareB) / kFetchPerCycle,
                   128.0 * (c.tileM + c.tileN) / kFillPerCycle});
}

// Cycles between steps that a block's stages allow: one of them is being multiplied.
double cyclesToFetch(const HopperConfig& c) {
  constexpr double kLatency = 1300;
  return (kLatency + cyclesPerStep(c)) / (c.stages - 1);
}

// Cycles of the epilogue of a block's part of a tile: a latency for each chunk that a warp passes
// through shared memory, and the instructions.
double cyclesToStore(const HopperConfig& c, double workPerElement) {
  constexpr double kLatency = 250, kChunk = 4096;  // elements of a warpgroup
  constexpr double kInstructions = 6;              // per element, beside the epilogue's own
  const double elements = static_cast<double>(c.tileM) * c.tileN / c.splitK;
  const int warpgroups = c.pingPong ? 1 : c.consumers;
  const double perCycle = warpgroups == 2 ? 96 : 60;
  return kLatency * std::max(elements / warpgroups / kChunk, 1.0) +
         elements * (kInstructions + workPerElement) / perCycle;
}

// Microseconds in which a cluster's blocks meet and exchange sums.
double microsOfCluster(const HopperConfig& c) {
  constexpr double kMeet = 0.25, kExchange = 0.5, kBytesPerCycle = 24;
  if (clusterSize(c) == 1) return 0;
  if (c.splitK == 1) return kMeet;
  return kMeet + kExchange + 4.0 * c.tileM * c.tileN / kBytesPerCycle / kClock;
}

}  // namespace

const std::vector<HopperConfig>& hopperConfigs() {
  static const std::vector<HopperConfig> list = listConfigs();
  return list;
}

double estimateMicros(const HopperConfig& c, const HopperProblem& problem, int multiprocessors) {
  constexpr double kStart = 1.75;            // launch and first copy
  constexpr double kRestart = 1.2;           // clusters that follow others on a multiprocessor
  constexpr double kMemoryPerMicro = 4.0e6;  // bytes
  constexpr double kUnhidden = 0.3;          // of the epilogue, when another tile is multiplied
  const HopperArguments arguments = argumentsOf(c, problem);
  const int64_t blocks = int64_t{arguments.tiles} * clusterSize(c);
  // Blocks spread over the multiprocessors, but clusters stay together where they find room.
  const double together = static_cast<double>(
      clusterSize(c) > 2
          ? std::min<int64_t>(blocksPerMultiprocessor(c), arguments.tiles)
          : std::min<int64_t>(blocksPerMultiprocessor(c), divideUp(blocks, multiprocessors)));
  const double waves =
      static_cast<double>(divideUp(arguments.tiles, clustersAtOnce(c, multiprocessors)));
  const auto steps = static_cast<double>(divideUp(arguments.steps, c.splitK));
  const double multiply =
      steps * std::max(cyclesPerStep(c) * together, steps > c.stages ? cyclesToFetch(c) : 0.0);
  const double store = cyclesToStore(c, problem.epilogueWork) * together;
  const bool hidesStores = c.pingPong || together > 1;
  const double cycles =
      waves * multiply + store + (waves - 1) * store * (hidesStores ? kUnhidden : 1.0);
  constexpr double kOutputBytes = 2;  // of an element, as a rule
  const auto m = static_cast<double>(problem.m), n = static_cast<double>(problem.n),
             k = static_cast<double>(problem.k) * bitsOf(problem.typeA) / 8;
  const HopperImages& images = problem.images;
  // Of images each pixel counts once, however many windows see it.
  double bytesA = m * k;
  if (images.count > 0)
    bytesA = std::min(bytesA, static_cast<double>(images.count * images.height * images.breadth *
                                                  images.channels) *
                                  bitsOf(problem.typeA) / 8);
  const double bytes = problem.batch * (bytesA + n * k + m * n * kOutputBytes);
  const double clusters =
      c.splitK > 1 ? waves * microsOfCluster(c) + (waves - 1) * kRestart : microsOfCluster(c);
  return kStart + clusters + std::max(cycles / kClock, bytes / kMemoryPerMicro);
}

namespace {

// Not the same thing over and over: guesses are worth little, so that what is timed has to differ.
bool isAlike(const HopperConfig& a, const HopperConfig& b) {
  return a.tileM == b.tileM && a.tileN == b.tileN && a.pingPong == b.pingPong &&
         a.splitK == b.splitK && (a.splitK > 1 || clusterSize(a) == clusterSize(b)) &&
         (a.residualTiles == 0 || a.blocksPerSm == b.blocksPerSm);
}

bool isRepetition(const HopperConfig& config, const std::vector<HopperConfig>& others,
                  size_t most) {
  size_t sameTile = 0, sameSplit = 0;
  for (const HopperConfig& other : others) {
    if (isAlike(config, other)) return true;
    sameTile += config.tileM == other.tileM && config.tileN == other.tileN;
    sameSplit += config.splitK == other.splitK;
  }
  return sameTile >= 3 || (config.splitK > 1 && sameSplit * 3 >= most);
}

}  // namespace

std::vector<HopperConfig> promisingConfigs(const HopperProblem& problem, int multiprocessors,
                                           size_t most) {
  std::vector<std::pair<double, HopperConfig>> ranked;
  for (HopperConfig listed : hopperConfigs()) {
    if (problem.normalises) {
      listed.normalises = true;
      listed = withStages(listed, listed.stages);
    }
    if (!isValid(listed, problem.transposedA, problem.transposedB) || whyNot(listed, problem))
      continue;
    const HopperConfig config =
        withUsefulStages(withResidual(listed, problem.residualBytes), problem, multiprocessors);
    ranked.emplace_back(estimateMicros(config, problem, multiprocessors), config);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<HopperConfig> best;
  for (const auto& [micros, config] : ranked)
    if (best.size() < most && !isRepetition(config, best, most)) best.push_back(config);
  return best;
}

}  // namespace camshaft::cuda
