// Layers whose results are as many as the data decides.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;

TEST(SelectLayers, NonZeroGivesOneColumnForEach) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 3));
  auto* found = client.network->addNonZero(*x);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->getIndicesType(), DataType::kINT32);
  EXPECT_THAT(listOf(found->getOutput(0)->getDimensions()), ElementsAre(2, -1));
  client.output(found->getOutput(0), "y");
  const std::vector<float> data{0, 1, 0, 2, 0, -3};
  const std::vector<Feed> feeds{{"x", Dims2(2, 3), data.data()}};
  EXPECT_THAT(client.run<int32_t>(feeds), ElementsAre(0, 1, 1, 1, 0, 2));
  EXPECT_THAT(listOf(client.shape), ElementsAre(2, 3));
  EXPECT_TRUE(found->setIndicesType(DataType::kINT64));
  EXPECT_THAT(client.run<int64_t>(feeds), ElementsAre(0, 1, 1, 1, 0, 2));
  EXPECT_FALSE(found->setIndicesType(DataType::kINT8));
  EXPECT_TRUE(client.reported("kINT32 or kINT64"));
  EXPECT_EQ(found->getIndicesType(), DataType::kINT64);
}

// Boxes 0 and 1 overlap by a half, box 2 lies apart; x1, y1, x2, y2.
const std::vector<float> kBoxes{0, 0, 2, 2, 0, 0, 2, 1, 5, 5, 6, 6};

struct Detection : Client {
  ITensor* boxes = input("boxes", Dims3(1, 3, 4));
  ITensor* scores = input("scores", Dims3(1, 3, 2));
  ITensor* most;
  Detection() {
    static const std::vector<int32_t> kMost{3};
    most = network->addConstant({0, {}}, weightsOf(kMost, DataType::kINT32))->getOutput(0);
  }
  ITensor* number(const std::vector<float>& value) {
    return network->addConstant({0, {}}, weightsOf(value))->getOutput(0);
  }
  // scores of the two classes for each box
  const std::vector<float> given{0.9f, 0.3f, 0.8f, 0.95f, 0.1f, -1};
  std::vector<Feed> feeds{{"boxes", Dims3(1, 3, 4), kBoxes.data()},
                          {"scores", Dims3(1, 3, 2), given.data()}};
};

TEST(SelectLayers, NmsSortsTheBoxesOfABatchByScore) {
  Detection client;
  auto* nms = client.network->addNMS(*client.boxes, *client.scores, *client.most);
  ASSERT_TRUE(nms);
  EXPECT_EQ(nms->getNbOutputs(), 2);
  EXPECT_EQ(nms->getBoundingBoxFormat(), BoundingBoxFormat::kCORNER_PAIRS);
  client.output(nms->getOutput(0), "rows");
  client.output(nms->getOutput(1), "count");
  // No overlap is allowed, and scores are above 0.
  EXPECT_THAT(client.run<int32_t>(client.feeds, "rows"), ElementsAre(0, 1, 1, 0, 0, 0, 0, 0, 2));
  EXPECT_THAT(client.run<int32_t>(client.feeds, "count"), ElementsAre(3));
  EXPECT_EQ(client.shape.nbDims, 0);
  const std::vector<float> half{0.5f}, low{-2};
  nms->setInput(3, *client.number(half));
  nms->setInput(4, *client.number(low));
  EXPECT_TRUE(nms->setIndicesType(DataType::kINT64));
  EXPECT_THAT(client.run<int64_t>(client.feeds, "rows"),
              ElementsAre(0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 2, 0, 1, 2));
  nms->setTopKBoxLimit(3);
  EXPECT_THAT(client.run<int64_t>(client.feeds, "rows"), ElementsAre(0, 1, 1, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(client.run<int32_t>(client.feeds, "count"), ElementsAre(3));
}

TEST(SelectLayers, NmsWithBoxesForEachClass) {
  Detection client;
  ITensor* boxes = client.input("all", Dims4(1, 3, 2, 4));
  auto* nms = client.network->addNMS(*boxes, *client.scores, *client.most);
  ASSERT_TRUE(nms);
  nms->setBoundingBoxFormat(BoundingBoxFormat::kCENTER_SIZES);
  client.output(nms->getOutput(0), "rows");
  // Of class 0 all boxes are the same, of class 1 none overlap.
  std::vector<float> places;
  for (int box = 0; box < 3; ++box) {
    places.insert(places.end(), {1, 1, 2, 2});
    places.insert(places.end(), {10.f * static_cast<float>(box), 1, 2, 2});
  }
  std::vector<Feed> feeds{client.feeds[1], {"all", Dims4(1, 3, 2, 4), places.data()}};
  client.network->removeTensor(*client.boxes);
  EXPECT_THAT(client.run<int32_t>(feeds, "rows"), ElementsAre(0, 1, 1, 0, 0, 0, 0, 1, 0));
}

TEST(SelectLayers, NmsRefusesWhatHasNoBoxes) {
  Detection client;
  EXPECT_FALSE(client.network->addNMS(*client.most, *client.scores, *client.most));
  EXPECT_TRUE(client.reported("needs boxes [batches, boxes, 4]"));
  auto* nms = client.network->addNMS(*client.boxes, *client.scores, *client.most);
  nms->setTopKBoxLimit(0);
  EXPECT_TRUE(client.reported("a limit of at least 1"));
  EXPECT_EQ(nms->getTopKBoxLimit(), 5000);
}

}  // namespace
}  // namespace camshaft::api
