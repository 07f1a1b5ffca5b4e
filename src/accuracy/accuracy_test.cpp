#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <random>

#include "accuracy/groups.h"
#include "accuracy/search.h"
#include "accuracy/tune.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "testing/graph_text.h"

namespace camshaft {
namespace {

using ::testing::ElementsAre;

std::vector<float> normal(size_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

TEST(Search, OrdersByTimeGainedForSquaredError) {
  const std::vector<Lowering> order = orderLowerings(
      {{{1, 0.1, 1}}, {{1, 0.1, 3}}, {{1, 0.5, 3}}, {{1, INFINITY, 9}}, {{1, 0, -1}}});
  std::vector<int> groups;
  for (const Lowering& step : order) groups.push_back(step.group);
  EXPECT_THAT(groups, ElementsAre(1, 0, 2)) << "what overflows or gains nothing is no step";
}

TEST(Search, StepsOfOneGroupGoDownAndMergeWhereTheLaterIsTheBargain) {
  // Level 1 costs 0.04 for 1 ms, level 2 costs 0.05 more for 9.
  const std::vector<Lowering> merged = orderLowerings({{{1, 0.2, 1}, {2, 0.3, 10}}});
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].level, 2);
  EXPECT_DOUBLE_EQ(merged[0].gain, 10);
  const std::vector<Lowering> apart = orderLowerings({{{1, 0.1, 5}, {2, 0.5, 6}}});
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].level, 1);
  EXPECT_EQ(apart[1].level, 2);
  EXPECT_NEAR(apart[1].cost, 0.24, 1e-12);
}

// Errors that add up as squares, and times that are what they seem.
TEST(Search, FindsTheLongestPrefixInFewTrialsAndWhatStillFits) {
  const std::vector<double> errors{0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 0.05},
      gains{9, 8, 7, 6, 5, 4, 0.01};
  std::vector<std::vector<LevelCost>> groups;
  for (size_t i = 0; i < errors.size(); ++i) groups.push_back({{1, errors[i], gains[i]}});
  int trials = 0;
  const TryMix attempt = [&](const Mix& mix) {
    ++trials;
    double squared = 0, gained = 0;
    for (size_t i = 0; i < mix.size(); ++i)
      if (mix[i]) squared += errors[i] * errors[i], gained += gains[i];
    return MixTrial{mix, 100 - gained, squared <= 0.301};
  };
  const MixTrial best = searchMix(errors.size(), orderLowerings(groups), attempt, 3);
  EXPECT_TRUE(best.keeps);
  // 0.01 + 0.04 + 0.09 + 0.16 = 0.30; the smallest has no room any more.
  EXPECT_THAT(best.mix, ElementsAre(1, 1, 1, 1, 0, 0, 0));
  EXPECT_LE(trials, 1 + 4 + 3 + 3);
}

TEST(Search, TakesWhatFitsBehindWhatDoesNot) {
  const TryMix attempt = [](const Mix& mix) {
    return MixTrial{mix, 10.0 - mix[0] - mix[1], mix[0] == 0};
  };
  const MixTrial best = searchMix(2, orderLowerings({{{1, 0.1, 9}}, {{1, 0.2, 1}}}), attempt, 1);
  EXPECT_THAT(best.mix, ElementsAre(0, 1));
}

// Two steps of ten are worse together with others than they were alone.
TEST(Search, GoesOnBehindStepsThatWereOneTooMany) {
  std::vector<std::vector<LevelCost>> groups;
  for (int i = 0; i < 10; ++i) groups.push_back({{1, 0.1 + 0.01 * i, 1}});
  const TryMix attempt = [](const Mix& mix) {
    const double lowered = std::accumulate(mix.begin(), mix.end(), 0.0);
    return MixTrial{mix, 10 - lowered, mix[2] == 0 && mix[5] == 0};
  };
  const MixTrial best = searchMix(groups.size(), orderLowerings(groups), attempt, 0);
  EXPECT_THAT(best.mix, ElementsAre(1, 1, 0, 1, 1, 0, 1, 1, 1, 1));
}

TEST(Groups, ProductsTakeWhatFollowsThem) {
  const Graph graph = parseGraph(R"(
graph g(%x: f32[4, 4], %w: f32[4, 4]) {
  %a = Pointwise(%x) {expr = relu(x0:f32)}
  %b = MatMul(%a, %w) "first"
  %c = Pointwise(%b) {expr = relu(x0:f32)}
  %d = MatMul(%c, %w) "second"
  %e = Pointwise(%d, %b) {expr = add(x0:f32, x1:f32)}
  return %e
}
)",
                                 findOp);
  const std::vector<PrecisionGroup> groups = groupsOf(graph);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(groups[0].products, ElementsAre(1));
  EXPECT_THAT(groups[1].nodes, ElementsAre(3, 4));
  const std::vector<PrecisionGroup> one = joined(groups, {{1, 3}});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].nodes.size(), 5u);
}

OutputTensor tensorOf(const std::vector<float>& values) {
  OutputTensor tensor{.dims = {static_cast<int64_t>(values.size())}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

double errorOf(const std::vector<float>& expected, const std::vector<float>& actual) {
  ErrorMeter meter;
  meter.add(tensorOf(expected), tensorOf(actual));
  return meter.error();
}

TEST(Errors, AreRelativeAndInfiniteWhereNumbersAreLost) {
  EXPECT_DOUBLE_EQ(errorOf({3, 4}, {3, 4}), 0);
  EXPECT_DOUBLE_EQ(errorOf({3, 4}, {3, 3}), 0.2);
  EXPECT_DOUBLE_EQ(errorOf({3, -INFINITY}, {3, -INFINITY}), 0);
  EXPECT_TRUE(std::isinf(errorOf({3, 4}, {3, NAN})));
  EXPECT_TRUE(std::isinf(errorOf({3, 4}, {3, INFINITY})));
  EXPECT_TRUE(std::isinf(errorOf({3, 4}, {3, 4, 5})));
  EXPECT_TRUE(std::isinf(errorOf({0, 0}, {0, 1})));
}

TEST(Bound, IsOfOutputsThatThereAre) {
  EXPECT_THROW(AccuracyJudge({}, {"y"}), Error);
  EXPECT_THROW(AccuracyJudge({.maxError = 0.0}, {"y"}), Error);
  EXPECT_THROW(AccuracyJudge({.byOutput = {{"z", 0.1}}}, {"y"}), Error);
  AccuracyJudge judge({.maxError = 0.1, .byOutput = {{"z", 0.5}}}, {"y", "z"});
  judge.setReference(0, {tensorOf({1, 0}), tensorOf({1, 0})});
  const std::vector<int> samples{0};
  const auto kept = [&](float y, float z) {
    return judge.keeps(judge.judge(samples, {{tensorOf({1, y}), tensorOf({1, z})}}), samples);
  };
  EXPECT_TRUE(kept(0.09f, 0.4f));
  EXPECT_FALSE(kept(0.2f, 0.4f));
  EXPECT_FALSE(kept(0.09f, 0.6f));
}

class Vectors : public Samples {
 public:
  Vectors(std::vector<int64_t> dims, std::vector<std::vector<float>> samples)
      : dims_(std::move(dims)), samples_(std::move(samples)) {}
  int count() const override { return static_cast<int>(samples_.size()); }
  std::vector<SampleInput> at(int index) const override {
    return {{samples_[static_cast<size_t>(index)].data(), dims_}};
  }

 private:
  std::vector<int64_t> dims_;
  std::vector<std::vector<float>> samples_;
};

// Three products in a row; what comes out of the second is `scale` as large.
Graph chain(int64_t size, float scale) {
  Graph graph;
  Value* value = graph.addInput("x", {DataType::kF32, {16, size}});
  for (int i = 0; i < 3; ++i) {
    const float deviation = 1 / std::sqrt(static_cast<float>(size));
    std::vector<float> weights = normal(static_cast<size_t>(size * size), deviation, 10 + i);
    if (i == 1)
      for (float& weight : weights) weight *= scale;
    if (i == 2)
      for (float& weight : weights) weight /= scale;
    Value* constant = graph.addConstant<float>(str("w", i), DataType::kF32, {size, size}, weights);
    value = graph.add(&ops::MatMul, str("product", i), {value, constant}, MatMulAttrs{})->output();
  }
  graph.addOutput("y", value);
  return graph;
}

Vectors samplesOf(int count, int64_t size) {
  std::vector<std::vector<float>> samples;
  for (int i = 0; i < count; ++i)
    samples.push_back(normal(static_cast<size_t>(16 * size), 1, 100 + i));
  return Vectors({16, size}, samples);
}

const AccuracyReport::Layer& layerOf(const AccuracyReport& report, const std::string& name) {
  return *std::ranges::find(report.layers, name, &AccuracyReport::Layer::name);
}

// Results of the second product leave the range of a half, so it and the third, which reads them,
// stay f32.
TEST(TunePrecision, WhatOverflowsHalvesBecomesAnIsland) {
  CompileOptions options;
  options.device = "reference";
  options.optimizationLevel = 0;
  const Vectors samples = samplesOf(4, 24);
  AccuracyRequest request{.bound = {.maxError = 0.01}};
  const AccuracyReport report = tunePrecision(chain(24, 1e6f), options, samples, request);
  EXPECT_TRUE(report.engines.back().keeps);
  const AccuracyReport::Engine& all = report.engines[1];
  EXPECT_FALSE(all.keeps);
  EXPECT_TRUE(std::isinf(all.tuning.errors[0]));
  EXPECT_EQ(layerOf(report, "product1").precision, DataType::kF32);
}

}  // namespace
}  // namespace camshaft
