#include "backends/cuda/gemm/wgmma_choice.h"

#include <algorithm>

namespace camshaft::cuda {
namespace {

constexpr int64_t kAllShared = 227 << 10;
constexpr int64_t kHalfShared = 112 << 10;  // two blocks, also of kernels that follow each other

std::vector<WgmmaConfig> listConfigs() {
  std::vector<WgmmaConfig> list;
  const auto add = [&](WgmmaConfig config, int64_t shared = kAllShared, int stages = 8) {
    list.push_back(withStages(config, shared, stages));
  };
  for (int share : {1, 2}) {
    add({.tileM = 128, .tileN = 256, .shareB = share});
    add({.tileM = 256, .tileN = 128, .shareA = share});
    add({.tileM = 128, .tileN = 192, .shareB = share});
    add({.tileM = 128, .tileN = 128, .pingPong = true, .shareB = share});
    add({.tileM = 64, .tileN = 256, .pingPong = true, .shareB = share});
    add({.tileM = 128, .tileN = 128, .shareB = share});
  }
  add({.tileM = 256, .tileN = 192, .shareB = 2});
  add({.tileM = 128, .tileN = 256, .shareA = 2});
  add({.tileM = 128, .tileN = 256, .shareB = 4});
  add({.tileM = 128, .tileN = 160, .pingPong = true, .shareB = 2});
  add({.tileM = 64, .tileN = 192, .pingPong = true});
  add({.tileM = 128, .tileN = 128, .blocksPerSm = 2}, kHalfShared, 3);
  add({.tileM = 128, .tileN = 96});
  add({.tileM = 128, .tileN = 64});
  for (int n : {32, 64, 128}) add({.tileM = 64, .tileN = n, .consumers = 1});
  for (int split : {2, 4, 8}) {
    for (int n : {32, 48, 64, 96, 128}) add({.tileM = 128, .tileN = n, .splitK = split});
    for (int n : {32, 64, 96, 128}) add({.tileM = 64, .tileN = n, .consumers = 1, .splitK = split});
  }
  for (int n : {48, 64, 96}) add({.tileM = 128, .tileN = n, .splitK = 4}, kHalfShared);
  for (int n : {32, 64}) add({.tileM = 64, .tileN = n, .consumers = 1, .splitK = 4}, kHalfShared);
  add({.tileM = 128, .tileN = 72, .splitK = 4});
  add({.tileM = 128, .tileN = 144, .splitK = 8});
  add({.tileM = 128, .tileN = 96, .splitK = 16});
  add({.tileM = 128, .tileN = 64, .splitK = 6});
  for (int n : {48, 64}) add({.tileM = 128, .tileN = n, .splitK = 4, .shareA = 2});
  for (int n : {64, 96}) add({.tileM = 64, .tileN = n, .consumers = 1, .splitK = 4, .shareB = 2});
  return list;
}

}  // namespace

const std::vector<WgmmaConfig>& wgmmaConfigs() {
  static const std::vector<WgmmaConfig> list = listConfigs();
  return list;
}

double estimateMicros(const WgmmaConfig& c, const WgmmaProblem& problem, int multiprocessors) {
  constexpr double kClock = 1.7e3;             // cycles per microsecond
  constexpr double kMultiplyPerCycle = 1700;   // multiply-adds of a multiprocessor, in practice
  constexpr double kCopyPerCycle = 36;         // bytes into a multiprocessor from L2
  constexpr double kMemoryPerMicro = 4.0e6;    // bytes
  constexpr double kStart = 2.0, kJoin = 0.7;  // microseconds: launch and first copy; adding up
  constexpr double kStorePerCycle = 24;        // elements through the epilogue
  const WgmmaArguments arguments = argumentsOf(c, problem);
  const int64_t slots = std::max<int64_t>(multiprocessors / clusterSize(c), 1) * c.blocksPerSm;
  const double waves = static_cast<double>((arguments.tiles + slots - 1) / slots);
  const double steps = static_cast<double>(arguments.steps) / c.splitK;
  const double perStep =
      std::max(64.0 * c.tileM * c.tileN / kMultiplyPerCycle,
               128.0 * (c.tileM / c.shareA + c.tileN / c.shareB) / kCopyPerCycle) *
      c.blocksPerSm;
  const bool hidesStores = c.pingPong || c.blocksPerSm > 1;
  const double store = c.tileM * c.tileN / kStorePerCycle / c.splitK * (hidesStores ? 0.3 : 1.0);
  const double bytes =
      2.0 * problem.batch *
      (static_cast<double>(problem.m) * problem.k + static_cast<double>(problem.n) * problem.k +
       static_cast<double>(problem.m) * problem.n);
  const double join = c.splitK > 1 ? kJoin + 4.0 * c.tileM * c.tileN / 32 / kClock : 0;
  return kStart + join +
         std::max(waves * (steps * perStep + store) / kClock, bytes / kMemoryPerMicro);
}

std::vector<WgmmaConfig> promisingConfigs(const WgmmaProblem& problem, int multiprocessors,
                                          size_t most) {
  std::vector<std::pair<double, WgmmaConfig>> ranked;
  for (const WgmmaConfig& config : wgmmaConfigs())
    if (isValid(config, problem.transposedA, problem.transposedB) && !whyNot(config, problem))
      ranked.emplace_back(estimateMicros(config, problem, multiprocessors), config);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<WgmmaConfig> best;
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i) best.push_back(ranked[i].second);
  return best;
}

}  // namespace camshaft::cuda
