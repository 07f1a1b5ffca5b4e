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

}  // namespace
}  // namespace camshaft::api
