// Layers that normalise along an axis, with numbers worked out by hand.
#include <gmock/gmock.h>

#include <cmath>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::FloatEq;

TEST(NormLayers, LrnDividesByTheSquaresOfNeighbouringChannels) {
  Client client;
  auto* lrn = client.network->addLRN(*client.input("x", Dims3(3, 1, 1)), 3, 3, 1, 2);
  ASSERT_TRUE(lrn);
  EXPECT_EQ(lrn->getType(), LayerType::kLRN);
  EXPECT_EQ(lrn->getWindowSize(), 3);
  client.output(lrn->getOutput(0), "y");
  const std::vector<float> data{1, 2, 3};
  // 1 / (2 + 1 + 4), 2 / (2 + 1 + 4 + 9), 3 / (2 + 4 + 9)
  const std::vector<Feed> feeds{{"x", Dims3(3, 1, 1), data.data()}};
  EXPECT_THAT(client.run(feeds), ElementsAre(FloatEq(1.f / 7), 0.125f, FloatEq(0.2f)));
  lrn->setWindowSize(1);
  lrn->setAlpha(1);
  lrn->setK(1);
  lrn->setBeta(0.5f);
  EXPECT_EQ(lrn->getBeta(), 0.5f);
  EXPECT_THAT(client.run(feeds),
              ElementsAre(FloatEq(1 / std::sqrt(2.f)), FloatEq(2 / std::sqrt(5.f)),
                          FloatEq(3 / std::sqrt(10.f))));
  lrn->setWindowSize(0);
  EXPECT_TRUE(client.reported("a window of 0 channels"));
  EXPECT_EQ(lrn->getWindowSize(), 1);
  EXPECT_FALSE(client.network->addLRN(*client.input("flat", Dims2(3, 1)), 3, 1, 1, 1));
  EXPECT_TRUE(client.reported("needs channels, rows and columns"));
}

TEST(NormLayers, RaggedSoftmaxStopsAtEachRowsLength) {
  Client client;
  ITensor* x = client.input("x", Dims2(3, 3));
  const std::vector<int32_t> lengths{3, 1, 0};
  ITensor* bounds =
      client.network->addConstant(Dims2(3, 1), weightsOf(lengths, DataType::kINT32))->getOutput(0);
  auto* ragged = client.network->addRaggedSoftMax(*x, *bounds);
  ASSERT_TRUE(ragged);
  client.output(ragged->getOutput(0), "y");
  const float two = std::log(2.f);
  const std::vector<float> data{0, two, 0, 5, NAN, 5, 1, 1, 1};
  EXPECT_THAT(client.run({{"x", Dims2(3, 3), data.data()}}),
              ElementsAre(0.25f, FloatEq(0.5f), 0.25f, 1, 0, 0, 0, 0, 0));
  EXPECT_FALSE(client.network->addRaggedSoftMax(*x, *client.integers({1, 2, 3})));
  EXPECT_TRUE(client.reported("the lengths of its rows as integers [3, 1]"));
}

}  // namespace
}  // namespace camshaft::api
