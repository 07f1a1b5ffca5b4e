#include "backends/cpu/gemm/weights_in_f32.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace camshaft::cpu {
namespace {

using testing::ElementsAre;

template <class T>
const Node& nodeThatReads(Graph& graph, DataType type, const std::vector<T>& weights) {
  Value* constant =
      graph.addConstant("w", type, {std::ssize(weights)}, std::span<const T>(weights));
  return *graph.add(&ops::Identity, "y", {constant}, NoAttrs{});
}

std::vector<float> listOf(const WeightsInF32& weights, int64_t count) {
  return {weights.data(), weights.data() + count};
}

TEST(WeightsInF32, DenormalNumbersAreZeros) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  Graph graph;
  const Node& node = nodeThatReads<float>(
      graph, DataType::kF32, {1, kSmallest / 2, -1e-45f, -0.0f, kSmallest, -kSmallest});
  EXPECT_THAT(listOf(WeightsInF32(node, 0), 6), ElementsAre(1, 0, 0, 0, kSmallest, -kSmallest));
}

TEST(WeightsInF32, OthersAreReadWhereTheyAre) {
  Graph graph;
  const float infinity = std::numeric_limits<float>::infinity();
  const Node& node = nodeThatReads<float>(graph, DataType::kF32, {0, infinity, NAN, -3});
  EXPECT_EQ(WeightsInF32(node, 0).data(), node.input(0)->view().as<float>());
}

TEST(WeightsInF32, WidensBf16) {
  Graph graph;
  const Node& node = nodeThatReads<BFloat16>(graph, DataType::kBF16,
                                             {BFloat16(1.5f), BFloat16(1e-39f), BFloat16(-2.0f)});
  EXPECT_THAT(listOf(WeightsInF32(node, 0), 3), ElementsAre(1.5f, 0, -2));
}

}  // namespace
}  // namespace camshaft::cpu
