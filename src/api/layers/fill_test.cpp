// Fill layers: lines over one or more dimensions, and random numbers.
#include <gmock/gmock.h>

#include <cmath>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::Each;
using testing::ElementsAre;

TEST(FillLayer, CountsAlongAVector) {
  Client client;
  auto* fill = client.network->addFill({1, {4}}, FillOperation::kLINSPACE);
  ASSERT_TRUE(fill);
  EXPECT_EQ(fill->getAlpha(), 0);
  EXPECT_EQ(fill->getBeta(), 1);
  EXPECT_FALSE(fill->isAlphaBetaInt64());
  fill->setAlpha(1.5);
  fill->setBeta(-0.5);
  client.output(fill->getOutput(0), "y");
  EXPECT_THAT(client.run({}), ElementsAre(1.5, 1, 0.5, 0));
  fill->setDimensions({1, {2}});
  EXPECT_THAT(client.run({}), ElementsAre(1.5, 1));
}

TEST(FillLayer, KeepsIntegersExact) {
  Client client;
  auto* fill = client.network->addFill({1, {3}}, FillOperation::kLINSPACE, DataType::kINT64);
  const int64_t large = (int64_t{1} << 60) + 1;
  fill->setAlphaInt64(large);
  fill->setBetaInt64(2);
  EXPECT_TRUE(fill->isAlphaBetaInt64());
  EXPECT_EQ(fill->getAlphaInt64(), large);
  EXPECT_EQ(fill->getOutput(0)->getType(), DataType::kINT64);
  client.output(fill->getOutput(0), "y");
  EXPECT_THAT(client.run<int64_t>({}), ElementsAre(large, large + 2, large + 4));
}

TEST(FillLayer, CountsAlongSeveralDimensionsGivenAsTensors) {
  Client client;
  auto* fill = client.network->addFill({1, {0}}, FillOperation::kLINSPACE, DataType::kINT32);
  ASSERT_TRUE(fill);
  ITensor* x = client.input("x", Dims2(-1, 4));
  fill->setInput(0, *client.network->addShape(*x)->getOutput(0));
  EXPECT_EQ(fill->getDimensions().nbDims, -1);
  EXPECT_THAT(listOf(fill->getOutput(0)->getDimensions()), ElementsAre(-1, 4));
  client.output(fill->getOutput(0), "y");
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("a beta for each of its 2 dim"));
  const std::vector<int32_t> one{1}, steps{100, 10};
  fill->setInput(
      1, *client.network->addConstant({0, {}}, weightsOf(one, DataType::kINT32))->getOutput(0));
  fill->setInput(
      2, *client.network->addConstant({1, {2}}, weightsOf(steps, DataType::kINT32))->getOutput(0));
  EXPECT_EQ(fill->getAlpha(), -1);
  const std::vector<float> data(12);
  EXPECT_THAT(client.run<int32_t>({{"x", Dims2(3, 4), data.data()}}),
              ElementsAre(1, 11, 21, 31, 101, 111, 121, 131, 201, 211, 221, 231));
  EXPECT_THAT(listOf(client.shape), ElementsAre(3, 4));
}

// The layer stands before what its beta is made of, and a setter emits it once more.
TEST(FillLayer, ReadsWhatIsAddedAfterIt) {
  Client client;
  ITensor* start = client.input("start", Dims{0, {}}, DataType::kINT32);
  ITensor* step = client.input("step", Dims{0, {}}, DataType::kINT32);
  auto* fill = client.network->addFill({1, {3}}, FillOperation::kLINSPACE);
  auto* vector = client.network->addShuffle(*step);
  vector->setReshapeDimensions({1, {1}});
  fill->setInput(1, *start);
  fill->setInput(2, *vector->getOutput(0));
  fill->setToType(DataType::kINT32);
  client.output(fill->getOutput(0), "y");
  const std::vector<int32_t> ten{10}, back{-3};
  EXPECT_THAT(client.run<int32_t>({{"start", {}, ten.data()}, {"step", {}, back.data()}}),
              ElementsAre(10, 7, 4));
}

TEST(FillLayer, DrawsTheSameNumbersInEveryRun) {
  Client client;
  auto* uniform = client.network->addFill(Dims2(50, 20), FillOperation::kRANDOM_UNIFORM);
  uniform->setAlpha(-2);
  uniform->setBeta(3);
  client.output(uniform->getOutput(0), "uniform");
  auto* normal = client.network->addFill(Dims2(50, 20), FillOperation::kRANDOM_NORMAL);
  const std::vector<float> mean{5}, deviation{2};
  normal->setInput(1, *client.network->addConstant({0, {}}, weightsOf(mean))->getOutput(0));
  normal->setInput(2, *client.network->addConstant({0, {}}, weightsOf(deviation))->getOutput(0));
  client.output(normal->getOutput(0), "normal");
  const std::vector<float> drawn = client.run({}, "uniform"), bell = client.run({}, "normal");
  EXPECT_THAT(drawn, Each(testing::AllOf(testing::Ge(-2), testing::Lt(3))));
  const auto average = [](const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  EXPECT_NEAR(average(drawn), 0.5, 0.2);
  EXPECT_NEAR(average(bell), 5, 0.3);
  std::vector<float> squares;
  for (float value : bell) squares.push_back((value - 5) * (value - 5));
  EXPECT_NEAR(std::sqrt(average(squares)), 2, 0.2);
  EXPECT_EQ(client.run({}, "uniform"), drawn);
  uniform->setToType(DataType::kINT32);
  EXPECT_TRUE(client.reported("draws numbers of type kFLOAT, kHALF or kBF16"));
  EXPECT_EQ(uniform->getToType(), DataType::kFLOAT);
}

}  // namespace
}  // namespace camshaft::api
