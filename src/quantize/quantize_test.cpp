#include "quantize/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "quantize/bias.h"
#include "quantize/equalize.h"
#include "quantize/fold_batch_norm.h"
#include "quantize/upgrade.h"
#include "quantize/weights.h"
#include "testing/onnx_model.h"

namespace camshaft {
namespace {

using onnx::TestModel;

std::vector<float> normal(size_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

// Every input in one array of this shape for each sample.
class TestSamples final : public Samples {
 public:
  TestSamples(std::vector<int64_t> dims, int count, unsigned seed = 7) : dims_(std::move(dims)) {
    const auto size = static_cast<size_t>(
        std::accumulate(dims_.begin(), dims_.end(), int64_t{1}, std::multiplies<>()));
    for (int i = 0; i < count; ++i)
      values_.push_back(normal(size, 1, seed + static_cast<unsigned>(i)));
  }
  int count() const override { return static_cast<int>(values_.size()); }
  std::vector<SampleInput> at(int index) const override {
    return {{values_[static_cast<size_t>(index)].data(), dims_}};
  }

 private:
  std::vector<int64_t> dims_;
  std::vector<std::vector<float>> values_;
};

// What a model gives for all samples, one after the other.
std::vector<float> resultsOf(const onnx::LoadedModel& model, const Samples& samples,
                             const std::string& tensor) {
  const SampleRunner runner(samples, inputNames(model.model), 1);
  std::vector<float> results;
  const auto network = runner.build(
      model, {tensor},
      [&](const std::string&, std::span<const int64_t>, std::span<const float> values) {
        results.insert(results.end(), values.begin(), values.end());
      });
  for (int i = 0; i < runner.count(); ++i) runner.run(*network, i);
  return results;
}

double relativeError(const std::vector<float>& actual, const std::vector<float>& expected) {
  double squares = 0, all = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    squares += std::pow(actual[i] - expected[i], 2);
    all += std::pow(expected[i], 2);
  }
  return std::sqrt(squares / all);
}

TensorStatistics statisticsOf(const std::vector<float>& values) {
  TensorStatistics statistics;
  const std::vector<int64_t> dims{static_cast<int64_t>(values.size())};
  statistics.add(dims, values);
  return statistics;
}

double squaredError(const std::vector<float>& values, const Range& range) {
  const Quantizer quantizer = quantizerFor(range, DataType::kU8);
  double sum = 0;
  for (const float value : values) sum += std::pow(value - quantizer.rounded(value), 2);
  return sum;
}

// Compared with trying many ranges on the data itself.
TEST(Range, SquaredErrorsAreLeast) {
  std::vector<float> values = normal(20000, 1, 1);
  for (float& value : values) value = value < 0 ? value * 0.2F : value;  // lopsided
  values.push_back(9), values.push_back(-4);
  const Range found = squaredErrorRange(statisticsOf(values));
  double least = INFINITY;
  for (double low = -4; low <= 0; low += 0.05)
    for (double high = 1; high <= 9; high += 0.1)
      least = std::min(least, squaredError(values, {low, high}));
  EXPECT_LE(squaredError(values, found), 1.03 * least);
  EXPECT_LT(found.high, 9);
}

TEST(Range, WhatIsOutsideIsCounted) {
  std::vector<float> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(static_cast<float>(i % 2 ? i : -i));
  const TensorStatistics statistics = statisticsOf(values);
  EXPECT_NEAR(clippedShare(statistics, {-500, 800}), 0.25 + 0.1, 0.005);
  EXPECT_EQ(clippedShare(statistics, {-1000, 1000}), 0);
  for (const auto method : {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy,
                            RangeMethod::kSquaredError}) {
    const Range range = chooseRange(statistics, {method, 99}, false);
    EXPECT_LE(range.low, -900);
    EXPECT_GE(range.high, 900);
  }
}

TEST(Range, ZeroIsExactAndLimitsAreKept) {
  const Quantizer bytes = quantizerFor({-1, 3}, DataType::kU8);
  EXPECT_EQ(bytes.rounded(0), 0);
  EXPECT_EQ(bytes.zeroPoint, 64);
  EXPECT_NEAR(bytes.rounded(100), 3, bytes.scale);
  const Quantizer floats = quantizerFor({-7, 7}, DataType::kF8E4M3);
  EXPECT_EQ(floats.rounded(7), 7);
  EXPECT_EQ(floats.rounded(100), 7);
  EXPECT_EQ(quantizerFor({0, 0}, DataType::kI8).rounded(3), 3);
}

// y = relu(conv(x)); z = depthwise(y); out = 1x1 conv of z; channels differ in size a lot.
TestModel chain() {
  TestModel model(13);
  std::vector<float> first = normal(8 * 3 * 9, 0.3F, 11);
  for (size_t i = 0; i < first.size(); ++i)
    first[i] *= std::pow(3.0F, static_cast<float>(i / 27) - 4);
  model.input("x", {int64_t{1}, int64_t{3}, int64_t{16}, int64_t{16}})
      .floats("w1", {8, 3, 3, 3}, first)
      .floats("b1", {8}, normal(8, 0.1F, 12))
      .floats("w2", {8, 1, 3, 3}, normal(72, 0.5F, 13))
      .floats("w3", {5, 8, 1, 1}, normal(40, 0.5F, 14))
      .node({"Conv",
             {"x", "w1", "b1"},
             {"c1"},
             {{"pads", std::vector<int64_t>{1, 1, 1, 1}, ""}},
             "one"})
      .node({"Relu", {"c1"}, {"y"}, {}, "relu"})
      .node({"Conv", {"y", "w2"}, {"z"}, {{"group", int64_t{8}, ""}}, "two"})
      .node({"Conv", {"z", "w3"}, {"out"}, {}, "three"})
      .output("out");
  return model;
}

struct Prepared {
  std::vector<Product> products;
  std::map<std::string, TensorStatistics, std::less<>> statistics;
};

Prepared prepare(ModelEditor& editor, const Samples& samples) {
  Prepared made;
  std::vector<SkippedNode> skipped;
  made.products = findProducts(editor, {{"Conv", "MatMul", "Gemm"}, {}}, skipped);
  const SampleRunner runner(samples, inputNames(editor.model()), 1);
  TensorNames tensors;
  for (const Product& product : made.products) {
    tensors.insert(product.input);
    made.statistics.try_emplace(product.input, product.isConvolution);
  }
  const auto network = runner.build(
      editor.loaded(), tensors,
      [&](const std::string& name, std::span<const int64_t> dims, std::span<const float> values) {
        made.statistics.find(name)->second.add(dims, values);
      });
  for (int i = 0; i < runner.count(); ++i) runner.run(*network, i);
  return made;
}

TEST(Equalize, KeepsTheFunctionAndBringsChannelsTogether) {
  TestModel model = chain();
  const TestSamples samples({1, 3, 16, 16}, 2);
  ModelEditor editor(model.load());
  const std::vector<float> expected = resultsOf(editor.loaded(), samples, "out");
  const Prepared before = prepare(editor, samples);
  const auto changed = equalizeChannels(editor, before.products, before.statistics);
  EXPECT_EQ(changed, (std::vector<std::string>{"y", "z"}));
  EXPECT_LT(relativeError(resultsOf(editor.loaded(), samples, "out"), expected), 1e-6);
  const Prepared after = prepare(editor, samples);
  const auto spread = [](const Prepared& prepared) {
    const auto largest = prepared.statistics.find("y")->second.channelLargest();
    return *std::ranges::max_element(largest) / *std::ranges::min_element(largest);
  };
  EXPECT_GT(spread(before), 100);
  EXPECT_LT(spread(after), 5);
}

TEST(Equalize, MovesTheScaleOfANormIntoMatrices) {
  TestModel model(17);
  std::vector<float> gamma(16, 1), beta = normal(16, 0.1F, 3);
  gamma[3] = 60, gamma[9] = 25;
  model.input("x", {int64_t{4}, int64_t{16}})
      .floats("gamma", {16}, gamma)
      .floats("beta", {16}, beta)
      .floats("w", {16, 8}, normal(128, 0.2F, 4))
      .floats("v", {16, 8}, normal(128, 0.2F, 5))
      .node({"LayerNormalization", {"x", "gamma", "beta"}, {"n"}, {}, "norm"})
      .node({"MatMul", {"n", "w"}, {"a"}, {}, "first"})
      .node({"MatMul", {"n", "v"}, {"b"}, {}, "second"})
      .node({"Mul", {"a", "b"}, {"out"}, {}, "product"})
      .output("out");
  const TestSamples samples({4, 16}, 3);
  ModelEditor editor(model.load());
  const std::vector<float> expected = resultsOf(editor.loaded(), samples, "out");
  const Prepared before = prepare(editor, samples);
  EXPECT_EQ(equalizeChannels(editor, before.products, before.statistics).size(), 1);
  EXPECT_LT(relativeError(resultsOf(editor.loaded(), samples, "out"), expected), 1e-6);
  // And eight bits are then enough for what they were not.
  QuantizeOptions options;
  options.range.method = RangeMethod::kMinMax;
  options.equalize = false;
  const double rough = relativeError(
      resultsOf(quantize(model.load(), &samples, options).model(), samples, "out"), expected);
  options.equalize = true;
  const double fine = relativeError(
      resultsOf(quantize(model.load(), &samples, options).model(), samples, "out"), expected);
  EXPECT_LT(fine, 0.7 * rough);
}

// Weights that are all rounded down shift every mean.
TEST(BiasCorrection, RemovesTheMeanError) {
  TestModel model(13);
  std::vector<float> weights = normal(32 * 6, 0.2F, 21);
  for (size_t i = 0; i < weights.size(); i += 6) weights[i] = 3;
  model.input("x", {int64_t{64}, int64_t{32}})
      .floats("w", {32, 6}, weights)
      .floats("b", {6}, std::vector<float>(6, 0))
      .node({"Abs", {"x"}, {"positive"}, {}, "abs"})
      .node({"MatMul", {"positive", "w"}, {"product"}, {}, "dense"})
      .node({"Add", {"product", "b"}, {"out"}, {}, "add"})
      .output("out");
  const TestSamples samples({64, 32}, 4);
  const std::vector<float> expected = resultsOf(model.load(), samples, "out");
  const auto meanErrors = [&](bool corrects) {
    QuantizeOptions options;
    options.correctBias = corrects;
    options.range = {RangeMethod::kPercentile, 95};
    QuantizedModel made = quantize(model.load(), &samples, options);
    EXPECT_EQ(made.report().correctedBiases, corrects ? 1 : 0);
    const std::vector<float> actual = resultsOf(made.model(), samples, "out");
    double worst = 0;
    for (size_t channel = 0; channel < 6; ++channel) {
      double sum = 0;
      for (size_t i = channel; i < actual.size(); i += 6) sum += actual[i] - expected[i];
      worst = std::max(worst, std::abs(sum / (static_cast<double>(actual.size()) / 6)));
    }
    return worst;
  };
  const double before = meanErrors(false), after = meanErrors(true);
  EXPECT_GT(before, 0.05);
  EXPECT_LT(after, 1e-4);
}

// A block with a shortcut, one with a convolution in its shortcut, and a product whose sum is no
// image's.
TEST(Residuals, AreReadAsTheNextConvolutionReadsThem) {
  TestModel model(13);
  model.input("x", {int64_t{2}, int64_t{8}, int64_t{5}, int64_t{5}});
  for (const char* name : {"stem", "left", "right", "side"})
    model.floats(str("w_", name), {8, 8, 1, 1}, normal(64, 0.4F, 31));
  model.floats("w", {5, 5}, normal(25, 0.4F, 32))
      .node({"Conv", {"x", "w_stem"}, {"stem"}, {}, "stem"})
      .node({"Relu", {"stem"}, {"image"}, {}, "relu"})
      .node({"Conv", {"image", "w_left"}, {"left"}, {}, "left"})
      .node({"Add", {"image", "left"}, {"block"}, {}, "shortcut"})
      .node({"Conv", {"block", "w_side"}, {"product_of_side"}, {}, "side"})
      .floats("b_side", {1, 8, 1, 1}, normal(8, 0.4F, 33))
      .node({"Add", {"b_side", "product_of_side"}, {"side"}, {}, "bias"})
      .node({"Conv", {"block", "w_right"}, {"right"}, {}, "right"})
      .node({"Add", {"right", "side"}, {"sum"}, {}, "both"})
      .node({"MatMul", {"sum", "w"}, {"product"}, {}, "product"})
      .node({"Add", {"product", "sum"}, {"out"}, {}, "stream"})
      .output("out");
  const TestSamples samples({2, 8, 5, 5}, 3);
  const std::vector<float> expected = resultsOf(model.load(), samples, "out");
  for (const bool quantizes : {true, false}) {
    QuantizeOptions options;
    options.quantizeResiduals = quantizes;
    const QuantizedModel made = quantize(model.load(), &samples, options);
    EXPECT_EQ(made.report().residuals, quantizes ? 2 : 0);
    std::map<std::string, std::vector<std::string>> reads;
    for (const onnx::Node& node : made.model().model.graph.nodes)
      reads[nameOf(node)] = {node.inputs.begin(), node.inputs.end()};
    const std::string image = reads["left"][0];
    EXPECT_EQ(image, "image_DequantizeLinear_Output");
    const std::string side = quantizes ? "side_DequantizeLinear_Output" : "side";
    EXPECT_EQ(reads["shortcut"], std::vector({quantizes ? image : "image", std::string("left")}));
    EXPECT_EQ(reads["both"], std::vector({std::string("right"), side}));
    EXPECT_EQ(reads["stream"], std::vector<std::string>({"product", "sum"}));
    EXPECT_LT(relativeError(resultsOf(made.model(), samples, "out"), expected), 0.05);
  }
}

double productError(const std::vector<float>& matrix, const BlockIntegers& integers, int64_t rows,
                    int64_t blockSize, const std::vector<float>& inputs) {
  const auto columns = static_cast<int64_t>(matrix.size()) / rows;
  const int64_t blocks = (columns + blockSize - 1) / blockSize;
  double sum = 0;
  for (size_t at = 0; at < inputs.size(); at += static_cast<size_t>(columns))
    for (int64_t row = 0; row < rows; ++row) {
      double off = 0;
      for (int64_t i = 0; i < columns; ++i) {
        const auto place = static_cast<size_t>(row * columns + i);
        const float scale = integers.scales[static_cast<size_t>(row * blocks + i / blockSize)];
        off += inputs[at + static_cast<size_t>(i)] *
               (matrix[place] - scale * static_cast<float>(integers.values[place]));
      }
      sum += off * off;
    }
  return sum;
}

// Inputs that follow one another leave much to make up for; at sizes that no block divides too.
TEST(Weights, CompensatingRoundingBeatsTheNearest) {
  for (const int64_t columns : {96, 77}) {
    constexpr int64_t kRows = 24, kBlock = 32, kSamples = 400;
    const std::vector<float> matrix = normal(static_cast<size_t>(kRows * columns), 0.1F, 31);
    std::vector<float> inputs = normal(static_cast<size_t>(kSamples * columns), 1, 32);
    for (size_t i = 1; i < inputs.size(); ++i) inputs[i] = 0.8F * inputs[i - 1] + 0.4F * inputs[i];
    std::vector<float> moments(static_cast<size_t>(columns * columns), 0);
    for (size_t at = 0; at < inputs.size(); at += static_cast<size_t>(columns))
      for (int64_t i = 0; i < columns; ++i)
        for (int64_t j = 0; j < columns; ++j)
          moments[static_cast<size_t>(i * columns + j)] +=
              inputs[at + static_cast<size_t>(i)] * inputs[at + static_cast<size_t>(j)];
    ThreadPool threads(2);
    const double nearest =
        productError(matrix, roundToNearest(matrix, kRows, kBlock), kRows, kBlock, inputs);
    const double compensated = productError(
        matrix, roundCompensating(matrix, kRows, kBlock, moments, threads), kRows, kBlock, inputs);
    EXPECT_LT(compensated, 0.5 * nearest) << columns;
  }
}

// Inputs that never differ from zero give no moments to divide by.
TEST(Weights, CompensationTakesDeadInputs) {
  const std::vector<float> matrix = normal(4 * 16, 1, 5);
  ThreadPool threads(1);
  const BlockIntegers made =
      roundCompensating(matrix, 4, 16, std::vector<float>(16 * 16, 0), threads);
  EXPECT_EQ(made.values, roundToNearest(matrix, 4, 16).values);
}

TEST(FoldBatchNorm, KeepsTheFunction) {
  TestModel model(13);
  model.input("x", {int64_t{1}, int64_t{3}, int64_t{8}, int64_t{8}})
      .floats("w", {4, 3, 3, 3}, normal(108, 0.3F, 1))
      .floats("scale", {4}, {1, -2, 0.5F, 3})
      .floats("shift", {4}, {0.1F, 0.2F, -0.3F, 0})
      .floats("mean", {4}, {0.5F, -0.5F, 0, 1})
      .floats("variance", {4}, {1, 4, 0.25F, 2})
      .node({"Conv", {"x", "w"}, {"c"}, {}, "conv"})
      .node({"BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"y"}, {}, "norm"})
      .output("y");
  const TestSamples samples({1, 3, 8, 8}, 1);
  ModelEditor editor(model.load());
  const std::vector<float> expected = resultsOf(editor.loaded(), samples, "y");
  EXPECT_EQ(foldBatchNorms(editor), 1);
  EXPECT_EQ(editor.graph().nodes.size(), 1U);
  EXPECT_EQ(editor.graph().initializers.size(), 2U);
  EXPECT_LT(relativeError(resultsOf(editor.loaded(), samples, "y"), expected), 1e-6);
}

TEST(Upgrade, AttributesBecomeInputs) {
  TestModel model(11);
  model.input("x", {int64_t{2}, int64_t{3}, int64_t{4}})
      .node({"ReduceMean", {"x"}, {"m"}, {{"axes", std::vector<int64_t>{1}, ""}}, "mean"})
      .node({"Squeeze", {"m"}, {"s"}, {{"axes", std::vector<int64_t>{1}, ""}}, "squeeze"})
      .node({"Softmax", {"s"}, {"y"}, {{"axis", int64_t{1}, ""}}, "softmax"})
      .output("y");
  const TestSamples samples({2, 3, 4}, 1);
  for (const int64_t opset : {13, 19, 21}) {
    ModelEditor editor(model.load());
    const std::vector<float> expected = resultsOf(editor.loaded(), samples, "y");
    upgradeOpset(editor, opset, [](std::string_view) { return 2; });
    EXPECT_EQ(opsetOf(editor.model()), opset);
    EXPECT_EQ(resultsOf(editor.loaded(), samples, "y"), expected);
  }
  ModelEditor editor(model.load());
  try {
    upgradeOpset(editor, 13, [](std::string_view) { return 3; });
    ADD_FAILURE() << "a Softmax over several dimensions was taken";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("'softmax'"), std::string::npos) << error.message();
  }
}

TEST(Quantize, KeepsNamesAndReportsEachLayer) {
  TestModel model = chain();
  const TestSamples samples({1, 3, 16, 16}, 4);
  const std::vector<float> expected = resultsOf(model.load(), samples, "out");
  for (const bool isUnsigned : {false, true}) {
    QuantizeOptions options;
    options.unsignedActivations = isUnsigned;
    options.excludedNodes = {"three"};
    QuantizedModel made = quantize(model.load(), &samples, options);
    const QuantizeReport& report = made.report();
    ASSERT_EQ(report.layers.size(), 2U);
    EXPECT_EQ(report.layers[0].name, "one");
    EXPECT_GT(report.layers[1].signalToNoise.value_or(0), 25);
    ASSERT_EQ(report.skipped.size(), 1U);
    EXPECT_EQ(report.skipped[0].reason, "it is excluded");
    EXPECT_LT(relativeError(resultsOf(made.model(), samples, "out"), expected), 0.03);
    std::vector<std::string_view> kept;
    for (const onnx::Node& node : made.model().model.graph.nodes)
      if (!node.opType.ends_with("Linear")) kept.push_back(node.name);
    EXPECT_EQ(kept, (std::vector<std::string_view>{"one", "relu", "two", "three"}));
  }
}

std::string refusal(TestModel& model, const Samples* samples, const QuantizeOptions& options) {
  try {
    quantize(model.load(), samples, options);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Quantize, RefusesInWords) {
  TestModel model = chain();
  const TestSamples samples({1, 3, 16, 16}, 1), none({1}, 0);
  QuantizeOptions options;
  EXPECT_EQ(refusal(model, nullptr, options),
            "int8 needs calibration data: ranges of tensors come from it");
  EXPECT_EQ(refusal(model, &none, options),
            "there is no calibration data: give at least one sample");
  options.excludedNodes = {"four"};
  EXPECT_EQ(refusal(model, &samples, options), "there is no node 'four' to exclude");
  options = {};
  options.format = QuantizeFormat::kInt4;
  EXPECT_EQ(refusal(model, &samples, options),
            "the model has no Gemm, MatMul with constant f32 weights to quantise");
}

}  // namespace
}  // namespace camshaft
