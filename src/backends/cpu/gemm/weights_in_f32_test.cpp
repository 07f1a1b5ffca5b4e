#include "backends/cpu/gemm/weights_in_f32.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

namespace camshaft::cpu {
namespace {

using testing::ElementsAre;

template <class T>
const Value* addConstant(Graph& graph, DataType type, const std::vector<T>& elements) {
  return graph.addConstant("w", type, {std::ssize(elements)}, std::span<const T>(elements));
}

TEST(WeightsInF32, DenormalNumbersAreZeros) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  Graph graph;
  const WeightsInF32 weights(*addConstant<float>(
      graph, DataType::kF32, {1, kSmallest / 2, -1e-45f, -0.0f, kSmallest, -kSmallest}));
  EXPECT_THAT(std::vector<float>(weights.data(), weights.data() + 6),
              ElementsAre(1, 0, 0, 0, kSmallest, -kSmallest));
}

TEST(WeightsInF32, OthersAreReadWhereTheyAre) {
  Graph graph;
  const float infinity = std::numeric_limits<float>::infinity();
  const Value* constant = addConstant<float>(graph, DataType::kF32, {0, infinity, NAN, -3});
  EXPECT_EQ(WeightsInF32(*constant).data(), constant->view().as<float>());
}

TEST(WeightsInF32, WidensBf16) {
  Graph graph;
  const WeightsInF32 weights(*addConstant<BFloat16>(
      graph, DataType::kBF16, {BFloat16(1.5f), BFloat16(1e-39f), BFloat16(-2.0f)}));
  EXPECT_THAT(std::vector<float>(weights.data(), weights.data() + 3), ElementsAre(1.5f, 0, -2));
}

}  // namespace
}  // namespace camshaft::cpu
