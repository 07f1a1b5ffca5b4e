// Networks built call by call, run, and compared with values computed by hand.
#include <gmock/gmock.h>

#include <cmath>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

TEST(Layers, ConvolutionReluPoolingFullyConnected) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 4, 4));
  const std::vector<float> kernel(9, 1.f), bias{-40.f};
  auto* conv =
      client.network->addConvolutionNd(*x, 1, DimsHW(3, 3), weightsOf(kernel), weightsOf(bias));
  ASSERT_TRUE(conv);
  conv->setPaddingNd(DimsHW(1, 1));
  auto* relu = client.network->addActivation(*conv->getOutput(0), ActivationType::kRELU);
  auto* pool = client.network->addPoolingNd(*relu->getOutput(0), PoolingType::kMAX, DimsHW(2, 2));
  pool->setStrideNd(DimsHW(2, 2));
  auto* flat = client.network->addShuffle(*pool->getOutput(0));
  flat->setReshapeDimensions(Dims2(0, -1));
  const std::vector<float> dense{1, 0, 0, 1, 1, 1, 1, 1};
  ITensor* weights = client.network->addConstant(Dims2(2, 4), weightsOf(dense))->getOutput(0);
  auto* product = client.network->addMatrixMultiply(*flat->getOutput(0), MatrixOperation::kNONE,
                                                    *weights, MatrixOperation::kTRANSPOSE);
  client.output(product->getOutput(0), "y");
  const std::vector<float> data = iota(16);
  // 3x3 sums: interior 45 54 81 90; borders e.g. bottom row 66..; minus 40, clamped, maxima of 2x2.
  EXPECT_THAT(client.run({{"x", Dims4(1, 1, 4, 4), data.data()}}),
              ElementsAre(5 + 50, 5 + 14 + 41 + 50));
}

TEST(Layers, SamePaddingAndStrides) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 5, 5));
  const std::vector<float> kernel(9, 1.f);
  auto* conv =
      client.network->addConvolutionNd(*x, 1, DimsHW(3, 3), weightsOf(kernel), noWeights());
  conv->setStrideNd(DimsHW(2, 2));
  conv->setPaddingMode(PaddingMode::kSAME_UPPER);
  client.output(conv->getOutput(0), "y");
  EXPECT_THAT(listOf(conv->getOutput(0)->getDimensions()), ElementsAre(1, 1, 3, 3));
  const std::vector<float> ones(25, 1.f);
  EXPECT_THAT(client.run({{"x", Dims4(1, 1, 5, 5), ones.data()}}),
              ElementsAre(4, 6, 4, 6, 9, 6, 4, 6, 4));
}

TEST(Layers, AWindowMayBeLargerThanItsInputUntilItIsPadded) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 2, 2));
  auto* pooling = client.network->addPoolingNd(*x, PoolingType::kMAX, Dims2(3, 3));
  ASSERT_TRUE(pooling);
  client.output(pooling->getOutput(0), "y");
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(),
              testing::HasSubstr("has a window of 3 elements, larger than its padded input of 2"));
  pooling->setPaddingNd(Dims2(1, 1));
  pooling->setStrideNd(Dims2(2, 2));
  EXPECT_THAT(listOf(pooling->getOutput(0)->getDimensions()), ElementsAre(1, 1, 1, 1));
  const std::vector<float> data{1, 5, 3, 2};
  EXPECT_THAT(client.run({{"x", Dims4(1, 1, 2, 2), data.data()}}), ElementsAre(5));
}

TEST(Layers, GroupedConvolutionTakesItsGroupsAfterItsWeights) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 2, 1, 2));
  const std::vector<float> kernel{10, 100};
  auto* conv =
      client.network->addConvolutionNd(*x, 2, DimsHW(1, 1), weightsOf(kernel), noWeights());
  ASSERT_TRUE(conv);
  client.output(conv->getOutput(0), "y");
  EXPECT_FALSE(client.build());  // two weights are too few for one group
  EXPECT_NE(client.logger.errors.back().find("convolution_0"), std::string::npos);
  conv->setNbGroups(2);
  const std::vector<float> data{1, 2, 3, 4};
  EXPECT_THAT(client.run({{"x", Dims4(1, 2, 1, 2), data.data()}}), ElementsAre(10, 20, 300, 400));
}

TEST(Layers, KernelAsInput) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 1, 3));
  ITensor* k = client.input("k", Dims4(1, 1, 1, 2));
  auto* conv = client.network->addConvolutionNd(*x, 1, DimsHW(1, 2), noWeights(), noWeights());
  ASSERT_TRUE(conv);
  conv->setInput(1, *k);
  EXPECT_EQ(conv->getNbInputs(), 2);
  client.output(conv->getOutput(0), "y");
  const std::vector<float> data{1, 2, 3}, kernel{10, 1};
  EXPECT_THAT(
      client.run({{"x", Dims4(1, 1, 1, 3), data.data()}, {"k", Dims4(1, 1, 1, 2), kernel.data()}}),
      ElementsAre(12, 23));
}

TEST(Layers, Deconvolution) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 1, 2));
  const std::vector<float> kernel{1, 10};
  auto* deconv =
      client.network->addDeconvolutionNd(*x, 1, DimsHW(1, 2), weightsOf(kernel), noWeights());
  deconv->setStrideNd(DimsHW(1, 2));
  client.output(deconv->getOutput(0), "y");
  const std::vector<float> data{3, 4};
  EXPECT_THAT(client.run({{"x", Dims4(1, 1, 1, 2), data.data()}}), ElementsAre(3, 30, 4, 40));
}

TEST(Layers, ElementWiseWithDynamicBatchAndProfile) {
  Client client;
  ITensor* a = client.input("a", Dims2(-1, 3));
  ITensor* b = client.input("b", Dims2(1, 3));
  auto* sum = client.network->addElementWise(*a, *b, ElementWiseOperation::kSUM);
  client.output(sum->getOutput(0), "y");
  EXPECT_THAT(listOf(sum->getOutput(0)->getDimensions()), ElementsAre(-1, 3));
  auto* profile = client.builder->createOptimizationProfile();
  profile->setDimensions("a", OptProfileSelector::kMIN, Dims2(1, 3));
  profile->setDimensions("a", OptProfileSelector::kOPT, Dims2(2, 3));
  profile->setDimensions("a", OptProfileSelector::kMAX, Dims2(4, 3));
  ASSERT_EQ(client.config->addOptimizationProfile(profile), 0);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::vector<float> left = iota(12), right{10, 20, 30};
  for (int64_t batch : {1, 2, 4}) {
    const auto y = client.runEngine(
        *engine, {{"a", Dims2(batch, 3), left.data()}, {"b", Dims2(1, 3), right.data()}});
    ASSERT_EQ(y.size(), static_cast<size_t>(batch * 3));
    EXPECT_EQ(y[3 * batch - 1], 3 * batch - 1 + 30);
  }
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_FALSE(context->setInputShape("a", Dims2(5, 3)));
}

float expectedActivation(ActivationType type, float x) {
  constexpr float alpha = 0.5f, beta = 2.f;
  switch (type) {
    case ActivationType::kRELU:
      return std::max(x, 0.f);
    case ActivationType::kSIGMOID:
      return 1 / (1 + std::exp(-x));
    case ActivationType::kTANH:
      return std::tanh(x);
    case ActivationType::kLEAKY_RELU:
      return x >= 0 ? x : alpha * x;
    case ActivationType::kELU:
      return x >= 0 ? x : alpha * (std::exp(x) - 1);
    case ActivationType::kSELU:
      return x > 0 ? beta * x : beta * alpha * (std::exp(x) - 1);
    case ActivationType::kSOFTSIGN:
      return x / (1 + std::abs(x));
    case ActivationType::kSOFTPLUS:
      return alpha * std::log(std::exp(beta * x) + 1);
    case ActivationType::kCLIP:
      return std::max(alpha, std::min(beta, x));
    case ActivationType::kHARD_SIGMOID:
      return std::max(0.f, std::min(1.f, alpha * x + beta));
    case ActivationType::kSCALED_TANH:
      return alpha * std::tanh(beta * x);
    case ActivationType::kTHRESHOLDED_RELU:
      return x > alpha ? x : 0;
    case ActivationType::kGELU_ERF:
      return 0.5f * x * (1 + std::erf(x / std::sqrt(2.f)));
    case ActivationType::kGELU_TANH:
      return 0.5f * x * (1 + std::tanh(std::sqrt(2.f / 3.14159265f) * (x + 0.044715f * x * x * x)));
  }
  return NAN;
}

TEST(Layers, EveryActivation) {
  const std::vector<float> data{-5, -1.5f, -0.25f, 0, 0.3f, 1, 4};
  for (int32_t i = 0; i < EnumMax<ActivationType>(); ++i) {
    SCOPED_TRACE(i);
    Client client;
    auto* layer =
        client.network->addActivation(*client.input("x", {1, {7}}), static_cast<ActivationType>(i));
    layer->setAlpha(0.5f);
    layer->setBeta(2.f);
    client.output(layer->getOutput(0), "y");
    std::vector<float> expected;
    for (float x : data) expected.push_back(expectedActivation(static_cast<ActivationType>(i), x));
    EXPECT_THAT(client.run({{"x", {1, {7}}, data.data()}}), Pointwise(FloatNear(1e-5f), expected));
  }
}

TEST(Layers, EveryElementWiseAndUnaryOperationBuilds) {
  Client client;
  ITensor* x = client.input("x", {1, {4}});
  ITensor* flags =
      client.network->addElementWise(*x, *x, ElementWiseOperation::kEQUAL)->getOutput(0);
  for (int32_t i = 0; i < EnumMax<ElementWiseOperation>(); ++i) {
    const auto op = static_cast<ElementWiseOperation>(i);
    const bool logic = op >= ElementWiseOperation::kAND && op <= ElementWiseOperation::kXOR;
    ITensor* operand = logic ? flags : x;
    auto* layer = client.network->addElementWise(*operand, *operand, op);
    ASSERT_TRUE(layer) << i;
    EXPECT_EQ(layer->getOperation(), op);
    client.network->markOutput(*layer->getOutput(0));
  }
  for (int32_t i = 0; i < EnumMax<UnaryOperation>(); ++i) {
    const auto op = static_cast<UnaryOperation>(i);
    auto* layer = client.network->addUnary(op == UnaryOperation::kNOT ? *flags : *x, op);
    ASSERT_TRUE(layer) << i;
    client.network->markOutput(*layer->getOutput(0));
  }
  EXPECT_TRUE(client.build()) << client.logger.errors.back();
}

TEST(Layers, ScaleSelectCastPreluIdentity) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 2, 1, 2));
  const std::vector<float> scale{2, 3}, shift{1, -1}, power{2, 1}, slope{0.5f};
  auto* scaled = client.network->addScale(*x, ScaleMode::kCHANNEL, weightsOf(shift),
                                          weightsOf(scale), weightsOf(power));
  ASSERT_TRUE(scaled);
  ITensor* slopes = client.network->addConstant(Dims4(1, 1, 1, 1), weightsOf(slope))->getOutput(0);
  auto* prelu = client.network->addParametricReLU(*scaled->getOutput(0), *slopes);
  auto* same = client.network->addIdentity(*prelu->getOutput(0));
  auto* positive = client.network->addElementWise(*x, *slopes, ElementWiseOperation::kGREATER);
  auto* chosen = client.network->addSelect(*positive->getOutput(0), *same->getOutput(0), *x);
  auto* whole = client.network->addCast(*chosen->getOutput(0), DataType::kINT32);
  client.output(whole->getOutput(0), "y");
  const std::vector<float> data{1, -2, 4, -3};
  // scaled: 9, 9, 11, -10; prelu: 9, 9, 11, -5; where x > 0.5: 9, -2, 11, -3
  EXPECT_THAT(client.run<int32_t>({{"x", Dims4(1, 2, 1, 2), data.data()}}),
              ElementsAre(9, -2, 11, -3));
}

TEST(Layers, ReduceTopKSoftMaxCumulative) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 3));
  client.output(client.network->addReduce(*x, ReduceOperation::kAVG, 1u << 1, false)->getOutput(0),
                "mean");
  auto* best = client.network->addTopK(*x, TopKOperation::kMAX, 2, 1u << 1);
  EXPECT_EQ(best->getOutput(1)->getType(), DataType::kINT32);
  client.output(best->getOutput(0), "best");
  client.output(best->getOutput(1), "where");
  auto* softmax = client.network->addSoftMax(*x);
  EXPECT_EQ(softmax->getAxes(), 1u);
  softmax->setAxes(1u << 1);
  client.output(softmax->getOutput(0), "softmax");
  const std::vector<int64_t> one{1};
  ITensor* axis = client.network->addConstant({0, {}}, weightsOf(one))->getOutput(0);
  auto* sums = client.network->addCumulative(*x, *axis, CumulativeOperation::kSUM, false, true);
  client.output(sums->getOutput(0), "sums");
  const std::vector<float> data{1, 3, 2, 0, 0, 6};
  const std::vector<Feed> feeds{{"x", Dims2(2, 3), data.data()}};
  EXPECT_THAT(client.run(feeds, "mean"), ElementsAre(2, 2));
  EXPECT_THAT(client.run(feeds, "best"), ElementsAre(3, 2, 6, 0));
  EXPECT_THAT(client.run<int32_t>(feeds, "where"), ElementsAre(1, 2, 2, 0));
  EXPECT_THAT(client.run(feeds, "sums"), ElementsAre(6, 5, 2, 6, 6, 6));
  const auto y = client.run(feeds, "softmax");
  EXPECT_NEAR(y[1], std::exp(3.) / (std::exp(1.) + std::exp(3.) + std::exp(2.)), 1e-6);
}

TEST(Layers, Normalization) {
  Client client;
  ITensor* x = client.input("x", Dims3(1, 2, 4));
  const std::vector<float> two(2, 2.f), zero(2, 0.f);
  ITensor* scale = client.network->addConstant(Dims3(1, 2, 1), weightsOf(two))->getOutput(0);
  ITensor* bias = client.network->addConstant(Dims3(1, 2, 1), weightsOf(zero))->getOutput(0);
  auto* instance = client.network->addNormalization(*x, *scale, *bias, 1u << 2);
  ASSERT_TRUE(instance);
  instance->setEpsilon(0);
  client.output(instance->getOutput(0), "instance");
  auto* group = client.network->addNormalizationV2(*x, *scale, *bias, 1u << 2);
  group->setNbGroups(2);
  client.output(group->getOutput(0), "group");
  const std::vector<float> data{1, 1, 3, 3, 0, 10, 0, 10};
  const std::vector<Feed> feeds{{"x", Dims3(1, 2, 4), data.data()}};
  const std::vector<float> expected{-2, -2, 2, 2, -2, 2, -2, 2};
  EXPECT_THAT(client.run(feeds, "instance"), Pointwise(FloatNear(1e-4f), expected));
  EXPECT_THAT(client.run(feeds, "group"), Pointwise(FloatNear(1e-4f), expected));
}

TEST(Layers, MatrixMultiplyWithVectorsAndEinsum) {
  Client client;
  ITensor* m = client.input("m", Dims2(2, 3));
  ITensor* v = client.input("v", {1, {3}});
  auto* product =
      client.network->addMatrixMultiply(*m, MatrixOperation::kNONE, *v, MatrixOperation::kVECTOR);
  ASSERT_TRUE(product);
  EXPECT_THAT(listOf(product->getOutput(0)->getDimensions()), ElementsAre(2));
  client.output(product->getOutput(0), "y");
  auto* dot =
      client.network->addMatrixMultiply(*v, MatrixOperation::kVECTOR, *v, MatrixOperation::kVECTOR);
  EXPECT_EQ(dot->getOutput(0)->getDimensions().nbDims, 0);
  client.output(dot->getOutput(0), "dot");
  ITensor* operands[] = {m, v};
  auto* einsum = client.network->addEinsum(operands, 2, "ij,j");
  ASSERT_TRUE(einsum);
  client.output(einsum->getOutput(0), "einsum");
  const std::vector<float> matrix = iota(6), vector{1, 10, 100};
  const std::vector<Feed> feeds{{"m", Dims2(2, 3), matrix.data()}, {"v", {1, {3}}, vector.data()}};
  EXPECT_THAT(client.run(feeds), ElementsAre(210, 543));
  EXPECT_THAT(client.run(feeds, "dot"), ElementsAre(10101));
  EXPECT_THAT(client.run(feeds, "einsum"), ElementsAre(210, 543));
}

}  // namespace
}  // namespace camshaft::api
