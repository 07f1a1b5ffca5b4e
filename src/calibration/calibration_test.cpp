#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "calibration/cache.h"
#include "calibration/calibrate.h"
#include "calibration/threshold.h"
#include "ops/ops.h"
#include "testing/graph_text.h"

namespace camshaft {
namespace {

std::vector<float> normal(size_t count, float deviation, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

Histogram histogramOf(const std::vector<float>& values) {
  Histogram histogram;
  histogram.add(values);
  return histogram;
}

TEST(Histogram, GrowsWithoutForgetting) {
  Histogram histogram;
  for (const float deviation : {0.001f, 1.0f, 50.0f}) histogram.add(normal(1000, deviation));
  histogram.add(std::vector<float>{0, -0.0f, 1e-38f, 1e30f, NAN, INFINITY, -INFINITY});
  EXPECT_EQ(histogram.zeros(), 3);
  EXPECT_EQ(histogram.total(), 3001);
  EXPECT_EQ(histogram.largest(), 1e30f);
  EXPECT_LE(histogram.counts().size(), size_t{Histogram::kBins});
  EXPECT_GE(histogram.binWidth() * Histogram::kBins, histogram.largest());
  int64_t sum = 0;
  for (const int64_t count : histogram.counts()) sum += count;
  EXPECT_EQ(sum, histogram.total());
}

// What was counted in narrow bins lies where it would in wide ones, but for those at their edges.
TEST(Histogram, BatchesAddUpInAnyOrder) {
  const std::vector<float> small = normal(20000, 1, 2), large = normal(20000, 3, 3);
  Histogram rising, falling;
  rising.add(small), rising.add(large);
  falling.add(large), falling.add(small);
  for (const double quantile : {0.1, 0.5, 0.9, 0.999})
    EXPECT_NEAR(percentileThreshold(rising, quantile), percentileThreshold(falling, quantile),
                2 * rising.binWidth());
}

TEST(Threshold, PercentilesAreThoseOfTheData) {
  std::vector<float> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(static_cast<float>(i % 2 ? i : -i));
  const Histogram histogram = histogramOf(values);
  EXPECT_NEAR(percentileThreshold(histogram, 0.5), 500, 1);
  EXPECT_NEAR(percentileThreshold(histogram, 0.99), 990, 1);
  EXPECT_EQ(percentileThreshold(histogram, 1), 1000);
  EXPECT_EQ(percentileThreshold(Histogram(), 0.5), 0);
}

// A few far away are clipped, and the many are not.
TEST(Threshold, EntropyLeavesOutliersOutside) {
  std::vector<float> values = normal(100000, 1);
  values.push_back(12);
  for (const double threshold :
       {entropyThreshold(histogramOf(values)), squaredErrorThreshold(histogramOf(values))}) {
    EXPECT_GT(threshold, 2.5);
    EXPECT_LT(threshold, 10);
  }
}

// However few they are: rounding all others more coarsely costs less than losing these.
TEST(Threshold, OutliersThatAreLargeEnoughStay) {
  std::vector<float> values = normal(100000, 1);
  values.push_back(1000);
  EXPECT_GT(entropyThreshold(histogramOf(values)), 500);
}

// The least of the errors that rounding and clipping the data itself leave.
TEST(Threshold, SquaredErrorIsLeastThere) {
  const std::vector<float> values = normal(50000, 2, 9);
  const auto errorAt = [&](double threshold) {
    double sum = 0;
    for (const float value : values) {
      const double step = threshold / 127;
      const double rounded = std::clamp(std::rint(value / step), -127.0, 127.0) * step;
      sum += std::pow(value - rounded, 2);
    }
    return sum;
  };
  const double found = squaredErrorThreshold(histogramOf(values));
  for (double other = 2; other < 10; other += 0.25)
    EXPECT_LT(errorAt(found), 1.02 * errorAt(other)) << other;
}

TEST(Threshold, EntropyKeepsWhatIsEvenlySpread) {
  std::vector<float> values;
  for (int i = 1; i <= 100000; ++i) values.push_back(static_cast<float>(i) / 100000);
  EXPECT_GT(entropyThreshold(histogramOf(values)), 0.98);
  EXPECT_EQ(entropyThreshold(histogramOf({1, 1, 1})), 1);
  EXPECT_EQ(entropyThreshold(histogramOf({0, 0})), 0);
}

TEST(CalibrationCache, IsTensorRtsText) {
  const TensorScales scales{{"images", 1.0f / 127}, {"(Unnamed Layer* 1) [Relu]: a", 0.5f}};
  const std::string text = writeScales(101600, "EntropyCalibration2", scales);
  EXPECT_EQ(text,
            "TRT-101600-EntropyCalibration2\n"
            "(Unnamed Layer* 1) [Relu]: a: 3f000000\n"
            "images: 3c010204\n");
  const auto read = readScales(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->algorithm, "EntropyCalibration2");
  EXPECT_EQ(read->scales, scales);
}

TEST(CalibrationCache, TakesOtherVersionsAndLeavesOutWhatIsNone) {
  const auto read = readScales(
      "TRT-8601-MinMaxCalibration\r\nx: 3c010a14\r\n\r\nbroken\ny: 7fc00000\nz: 3c01\nw: 3c0x0000\n"
      ": 3c010a14\nv: 3c010a141\nu: bc010a14");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->algorithm, "MinMaxCalibration");
  ASSERT_EQ(read->scales.size(), 2u);  // x and z, a very small one
  EXPECT_NEAR(read->scales.at("x"), 0.0078759, 1e-6);
  for (const char* none : {"", "x: 3c010a14", "TRT-8601", "camshaft"})
    EXPECT_FALSE(readScales(none));
}

TEST(CalibrationCache, HistogramsComeBack) {
  TensorHistograms histograms;
  histograms["a b: c"] = histogramOf(normal(100, 2));
  histograms["zeros"] = histogramOf({0, 0, 0});
  const auto read = readHistograms(writeHistograms(histograms));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  const Histogram &was = histograms.at("a b: c"), &is = read->at("a b: c");
  EXPECT_EQ(is.binWidth(), was.binWidth());
  EXPECT_EQ(is.largest(), was.largest());
  EXPECT_TRUE(std::ranges::equal(is.counts(), was.counts()));
  EXPECT_EQ(read->at("zeros").zeros(), 3);
  for (const char* none :
       {"", "TRT-1-a", "camshaft-histograms-1\nx: 1 2", "camshaft-histograms-1\nx: 0 1 0 5",
        "camshaft-histograms-1\nx: 1 2 0 -3", "camshaft-histograms-1\nx: 1 2 0 a"})
    EXPECT_FALSE(readHistograms(none)) << none;
}

// Every tensor is looked at, whatever fusing would make of it, over all batches.
TEST(Calibrate, SeesEveryTensor) {
  const Graph graph = parseGraph(R"(graph g(%x: f32[n, 2], %i: i64[2]) {
    %w: f32[2, 2] = constant [1, 0, 0, 2]
    %m = MatMul(%x, %w)
    %r = Pointwise(%m) {expr = relu(x0:f32)}
    %g = Gather(%r, %i) {axis = 1}
    return %g
  })",
                                 findOp);
  CompileOptions options;
  options.profiles = {{.inputs = {{"x", {{1, 2}, {2, 2}, {4, 2}}}}, .shapeValues = {}}};
  const std::vector<std::vector<float>> batches{{1, 2, 3, -4}, {-1, 0, 0, 0.5f}};
  const std::vector<int64_t> indices{0, 0};
  size_t next = 0;
  const TensorHistograms found =
      gatherHistograms(graph.clone(), options, [&](std::span<const void*> inputs) {
        if (next == batches.size()) return false;
        inputs[0] = batches[next++].data();
        inputs[1] = indices.data();
        return true;
      });
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found.at("x").largest(), 4);
  EXPECT_EQ(found.at("m").largest(), 8);
  EXPECT_EQ(found.at("r").largest(), 4);
  EXPECT_EQ(found.at("g").largest(), 3);
  EXPECT_EQ(found.at("r").total() + found.at("r").zeros(), 8);

  EXPECT_THROW(gatherHistograms(graph.clone(), options, [](auto) { return false; }), Error);
}

}  // namespace
}  // namespace camshaft
