// The device code of attention, run thread by thread on the host and compared with the formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cuda_emulator/cluster_emulator.h"

#define FLASH_CASE_BEGIN(Name, E, B, head, value) FLASH_STORED_BEGIN(Name, E, E, B, head, value)
#define FLASH_STORED_BEGIN(Name, E, S, B, head, value) \
  namespace Name {                                     \
  using Element = E;                                   \
  using Stored = S;                                    \
  using BiasElement = B;                               \
  using Output = E;                                    \
  constexpr bool kHasEpilogue = false;                 \
  constexpr int kImageHeight = 0, kImageWidth = 0;     \
  constexpr int kWindowHeight = 1, kWindowWidth = 1;   \
  constexpr int kShiftY = 0, kShiftX = 0;              \
  constexpr int kHeadSize = head, kValueSize = value;
#define FLASH_TILE(rowWarps, keyWarps, keyBlocks, warpRows, keys, stages, groups)   \
  constexpr int kRowWarps = rowWarps, kKeyWarps = keyWarps, kKeyBlocks = keyBlocks, \
                kWarpRows = warpRows, kKeys = keys, kStages = stages;               \
  constexpr bool kSingleTile = stages == 1, kWarpgroups = groups, kOverlaps = groups && stages == 3;
#define FLASH_SCORES(causal, hasBias, biasPairs, scale, softcap)               \
  constexpr bool kCausal = causal, kHasBias = hasBias, kBiasPairs = biasPairs; \
  constexpr double kScale = scale, kSoftcap = softcap;                         \
  namespace attention {                                                        \
  using namespace ::emulated;                                                  \
  }
#define FLASH_CASE_END                                                                   \
  struct Kernel {                                                                        \
    using E = Element;                                                                   \
    using S = Stored;                                                                    \
    using B = BiasElement;                                                               \
    using Problem = attention::Problem;                                                  \
    static constexpr int head = kHeadSize, value = kValueSize, rows = attention::kRows,  \
                         blocks = kKeyBlocks, threads = attention::kThreads;             \
    static constexpr bool causal = kCausal, hasBias = kHasBias;                          \
    static constexpr double scale = kScale, softcap = kSoftcap;                          \
    static constexpr int sharedBytes =                                                   \
        rows * attention::kQueryPitch +                                                  \
        std::max(kStages * attention::kStageBytes,                                       \
                 kKeyWarps * rows * (attention::kPartPitch + 2) * 4);                    \
    static void attend(const Problem& p, char* memory) { attention::attend(p, memory); } \
  };                                                                                     \
  }

FLASH_CASE_BEGIN(Plain, f16, f16, 64, 64)
FLASH_TILE(4, 1, 1, 16, 64, 2, false)
FLASH_SCORES(false, false, false, 0.125, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(Causal, f16, f16, 64, 64)
FLASH_TILE(4, 1, 1, 32, 64, 2, false)
FLASH_SCORES(true, false, false, 0.125, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(Window, f16, f16, 32, 32)
FLASH_TILE(4, 1, 1, 16, 64, 1, false)
FLASH_SCORES(false, true, true, 0.17, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(KeyWarps, f16, bool, 40, 24)
FLASH_TILE(1, 4, 1, 16, 32, 2, false)
FLASH_SCORES(true, true, false, 0.2, 5)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(KeyBlocks, bf16, float, 80, 96)
FLASH_TILE(2, 2, 2, 16, 32, 3, false)
FLASH_SCORES(false, true, false, -0.1, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(Large, f16, f16, 256, 256)
FLASH_TILE(4, 1, 1, 16, 32, 2, false)
FLASH_SCORES(true, false, false, 0.0625, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(Decoding, f16, f16, 64, 64)
FLASH_TILE(1, 4, 4, 16, 32, 1, false)
FLASH_SCORES(false, false, false, 0.125, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(LongCache, f16, f16, 128, 128)
FLASH_TILE(1, 4, 16, 16, 32, 2, false)
FLASH_SCORES(false, false, false, 0.1, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(FurtherAhead, f16, f16, 128, 128)
FLASH_TILE(1, 4, 8, 16, 32, 3, false)
FLASH_SCORES(false, false, false, 0.1, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(Group, f16, f16, 64, 64)
FLASH_TILE(8, 1, 1, 16, 64, 2, true)
FLASH_SCORES(true, false, false, 0.125, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(LargeGroup, bf16, f16, 128, 96)
FLASH_TILE(4, 1, 1, 16, 128, 2, true)
FLASH_SCORES(false, true, true, 0.1, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_CASE_BEGIN(Overlap, f16, bool, 64, 64)
FLASH_TILE(8, 1, 1, 16, 64, 3, true)
FLASH_SCORES(true, true, false, 0.125, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_STORED_BEGIN(Bytes, f16, signed char, f16, 40, 24)
FLASH_TILE(1, 4, 2, 16, 32, 2, false)
FLASH_SCORES(false, false, false, 0.02, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_STORED_BEGIN(BytesOnce, bf16, signed char, f16, 64, 64)
FLASH_TILE(1, 4, 4, 16, 16, 1, false)
FLASH_SCORES(false, false, false, 0.02, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

FLASH_STORED_BEGIN(NarrowGroup, f16, f8e4m3, bool, 64, 96)
FLASH_TILE(4, 1, 1, 16, 64, 2, true)
FLASH_SCORES(true, true, false, 0.125, 0)
#include "backends/cuda/attention/problem.cuh"
#include "backends/cuda/attention/flash_tiles.cuh"
#include "backends/cuda/attention/flash_warp.cuh"
#include "backends/cuda/attention/flash.cuh"
FLASH_CASE_END

namespace {

struct Sizes {
  int batches, heads, group, queries, keys, causalOffset = 0;
};

template <class T>
std::unique_ptr<T[]> randomElements(size_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::unique_ptr<T[]> values(new T[count]);
  for (size_t i = 0; i < count; ++i) {
    const float value = normal(generator);
    if constexpr (std::is_same_v<T, bool>)
      values[i] = value > 0;
    else if constexpr (std::is_same_v<T, signed char>)
      values[i] = static_cast<signed char>(std::clamp(40 * value, -128.0f, 127.0f));
    else
      values[i] = toStorage<T>(value);
  }
  return values;
}

// Softmax of one row of scores in double; nothing where no key is seen.
template <class K>
std::vector<double> weightsOf(const typename K::Problem& p, int batch, int head, int row) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<double> weights(p.keys);
  for (int key = 0; key < p.keys; ++key) {
    const auto* q = p.q + batch * p.qStride.batch + head * p.qStride.head + row * p.qStride.token;
    const auto* k =
        p.k + batch * p.kStride.batch + head / p.group * p.kStride.head + key * p.kStride.token;
    double score = 0;
    for (int i = 0; i < K::head; ++i) score += double(toCompute(q[i])) * toCompute(k[i]);
    score *= K::scale;
    if (K::softcap != 0) score = K::softcap * std::tanh(score / K::softcap);
    if constexpr (K::hasBias) {
      const auto bias = p.bias[batch / p.biasDivisor % p.biasModulo * p.biasBatch +
                               head * p.biasHead + row * p.biasRow + key * p.biasKey];
      if constexpr (std::is_same_v<typename K::B, bool>)
        score = bias ? score : kNone;
      else
        score += toCompute(bias);
    }
    weights[key] = K::causal && key > row + p.causalOffset ? kNone : score;
  }
  double peak = kNone, sum = 0;
  for (double weight : weights) peak = std::max(peak, weight);
  if (peak == kNone) return std::vector<double>(p.keys);
  for (double& weight : weights) sum += weight = std::exp(weight - peak);
  for (double& weight : weights) weight /= sum;
  return weights;
}

// ||out - expected|| / ||expected||
template <class K>
double relativeError(const typename K::Problem& p, int heads) {
  double error = 0, norm = 0;
  for (int batch = 0; batch < p.batches; ++batch)
    for (int head = 0; head < heads; ++head)
      for (int row = 0; row < p.queries; ++row) {
        const std::vector<double> weights = weightsOf<K>(p, batch, head, row);
        const auto* v = p.v + batch * p.vStride.batch + head / p.group * p.vStride.head;
        const auto* out =
            p.out + batch * p.outStride.batch + head * p.outStride.head + row * p.outStride.token;
        for (int i = 0; i < K::value; ++i) {
          double expected = 0;
          for (int key = 0; key < p.keys; ++key)
            expected += weights[key] * toCompute(v[key * p.vStride.token + i]);
          error += std::pow(toCompute(out[i]) - expected, 2);
          norm += expected * expected;
        }
      }
  return std::sqrt(error / norm);
}

template <class K>
double attend(const Sizes& s) {
  std::mt19937 generator(1);
  const int keyHeads = s.heads / s.group, biasRow = (s.keys + 1) / 2 * 2;
  using E = typename K::E;
  using S = typename K::S;
  const auto q = randomElements<E>(s.batches * s.heads * s.queries * K::head, generator);
  const auto k = randomElements<S>(s.batches * keyHeads * s.keys * K::head, generator);
  const auto v = randomElements<S>(s.batches * keyHeads * s.keys * K::value, generator);
  const auto bias = randomElements<typename K::B>(2 * s.heads * s.queries * biasRow, generator);
  std::vector<E> out(s.batches * s.heads * s.queries * K::value, toStorage<E>(1e4f));
  // Queries and results token by token, keys and values head by head.
  const typename K::Problem p{
      .q = q.get(),
      .k = k.get(),
      .v = v.get(),
      .out = out.data(),
      .bias = bias.get(),
      .batches = s.batches,
      .queries = s.queries,
      .keys = s.keys,
      .group = s.group,
      .causalOffset = s.causalOffset,
      .qStride = {s.heads * s.queries * K::head, K::head, s.heads * K::head},
      .kStride = {keyHeads * s.keys * K::head, s.keys * K::head, K::head},
      .vStride = {keyHeads * s.keys * K::value, s.keys * K::value, K::value},
      .outStride = {s.heads * s.queries * K::value, K::value, s.heads * K::value},
      .kFeature = 1,
      .biasBatch = s.heads * s.queries * biasRow,
      .biasHead = s.queries * biasRow,
      .biasRow = biasRow,
      .biasKey = 1,
      .biasDivisor = 1,
      .biasModulo = 2};
  const int blocks = (s.queries + K::rows - 1) / K::rows * s.batches;
  for (int x = 0; x < blocks; ++x)
    for (int head = 0; head < s.heads; ++head)
      emulated::runCluster({x * K::blocks, head, 0}, K::blocks, K::threads, K::sharedBytes,
                           [&](char* memory) { K::attend(p, memory); });
  return relativeError<K>(p, s.heads);
}

constexpr double kF16 = 1e-3, kBf16 = 8e-3;

TEST(Flash, EndsWithinTiles) { EXPECT_LT(attend<Plain::Kernel>({1, 2, 1, 70, 197}), kF16); }

TEST(Flash, SeesNoFuture) {
  EXPECT_LT(attend<Causal::Kernel>({2, 2, 2, 150, 150}), kF16);
  EXPECT_LT(attend<Causal::Kernel>({1, 1, 1, 130, 200, 70}), kF16);
  EXPECT_LT(attend<Causal::Kernel>({1, 1, 1, 200, 130, -70}), kF16);  // 70 rows see nothing
}

TEST(Flash, AddsBiasThatRepeats) { EXPECT_LT(attend<Window::Kernel>({3, 2, 1, 49, 49}), kF16); }

TEST(Flash, SharesKeysAmongWarps) {
  EXPECT_LT(attend<KeyWarps::Kernel>({2, 4, 2, 33, 300, 0}), kF16);
  EXPECT_LT(attend<KeyWarps::Kernel>({2, 4, 2, 33, 300, 267}), kF16);
}

TEST(Flash, SharesKeysAmongBlocks) {
  EXPECT_LT(attend<KeyBlocks::Kernel>({2, 2, 1, 40, 200}), kBf16);
  EXPECT_LT(attend<Decoding::Kernel>({1, 2, 1, 5, 500}), kF16);
  EXPECT_LT(attend<Decoding::Kernel>({1, 1, 1, 20, 90}), kF16);  // some blocks have no keys
  EXPECT_LT(attend<LongCache::Kernel>({1, 1, 1, 4, 4500}), kF16);
  EXPECT_LT(attend<FurtherAhead::Kernel>({1, 1, 1, 4, 4500}), kF16);
}

TEST(Flash, MultipliesInWarpgroups) {
  EXPECT_LT(attend<Group::Kernel>({1, 2, 1, 150, 200, 50}), kF16);
  EXPECT_LT(attend<Overlap::Kernel>({1, 2, 1, 150, 300, 150}), kF16);
  EXPECT_LT(attend<Overlap::Kernel>({1, 1, 1, 70, 70}), kF16);
  EXPECT_LT(attend<LargeGroup::Kernel>({1, 2, 1, 70, 150}), kBf16);
}

TEST(Flash, ReadsBytes) {
  EXPECT_LT(attend<Bytes::Kernel>({2, 4, 2, 13, 700}), kF16);
  EXPECT_LT(attend<Bytes::Kernel>({1, 1, 1, 1, 3}), kF16);
  EXPECT_LT(attend<BytesOnce::Kernel>({1, 2, 1, 4, 250}), kBf16);
  EXPECT_LT(attend<NarrowGroup::Kernel>({1, 2, 1, 100, 230, 130}), kF16);
}

TEST(Flash, ReloadsQueriesOfLargeHeads) {
  EXPECT_LT(attend<Large::Kernel>({1, 1, 1, 70, 70}), kF16);
}

}  // namespace
