#include "ops/random.h"

#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The published test vectors of Philox4x32-10 have the counter in all four words; of those that
// have its upper half zero there is one.
TEST(Philox, MatchesThePublishedVector) {
  EXPECT_THAT(philox(0, 0), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

std::vector<double> draw(const std::string& attributes) {
  return numbersOf(evaluateText("%y = Random() {" + attributes + "} return %y").at(0));
}

struct Moments {
  double mean = 0, deviation = 0, least = 1e9, most = -1e9;
  explicit Moments(const std::vector<double>& values) {
    for (const double value : values) {
      mean += value / static_cast<double>(values.size());
      least = std::min(least, value);
      most = std::max(most, value);
    }
    for (const double value : values)
      deviation += (value - mean) * (value - mean) / static_cast<double>(values.size());
    deviation = std::sqrt(deviation);
  }
};

TEST(Random, UniformStaysWithinItsBounds) {
  for (const char* type : {"f32", "f64", "f16", "bf16"}) {
    const Moments moments(draw(std::string("shape = [40000], low = -2, high = 4, type = ") + type));
    EXPECT_NEAR(moments.mean, 1, 0.05) << type;
    EXPECT_NEAR(moments.deviation, 6 / std::sqrt(12), 0.05) << type;
    EXPECT_GE(moments.least, -2) << type;
    EXPECT_LT(moments.most, 4) << type;
  }
}

TEST(Random, NormalHasItsMeanAndDeviation) {
  const Moments moments(draw("kind = normal, shape = [40000], low = 3, high = 2"));
  EXPECT_NEAR(moments.mean, 3, 0.05);
  EXPECT_NEAR(moments.deviation, 2, 0.05);
  EXPECT_GT(moments.most, 9);
}

TEST(Random, SeedsDifferAndRunsRepeat) {
  EXPECT_EQ(draw("shape = [8], seed = 3"), draw("shape = [8], seed = 3"));
  EXPECT_NE(draw("shape = [8], seed = 3"), draw("shape = [8], seed = 4"));
  EXPECT_THAT(refusalOf("", "%y = Random() {shape = [2], type = i32} return %y"),
              HasSubstr("must be floating"));
}

}  // namespace
}  // namespace camshaft::testing
