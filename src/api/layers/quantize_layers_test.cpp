// Layers that go to types of few bits and back, with numbers worked out by hand.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;

struct Quantizing : Client {
  ITensor* numbers(const Dims& dims, const std::vector<float>& values) {
    return network->addConstant(dims, weightsOf(values))->getOutput(0);
  }
};

TEST(QuantizeLayers, OneScaleRoundsToEvenAndSaturates) {
  Quantizing client;
  ITensor* x = client.input("x", Dims2(1, 6));
  auto* quantized = client.network->addQuantize(*x, *client.numbers({0, {}}, {0.5f}));
  ASSERT_TRUE(quantized);
  EXPECT_EQ(quantized->getToType(), DataType::kINT8);
  EXPECT_EQ(quantized->getAxis(), -1);
  EXPECT_EQ(quantized->getOutput(0)->getType(), DataType::kINT8);
  client.output(quantized->getOutput(0), "q");
  auto* back =
      client.network->addDequantize(*quantized->getOutput(0), *client.numbers({0, {}}, {0.25f}));
  EXPECT_EQ(back->getToType(), DataType::kFLOAT);
  client.output(back->getOutput(0), "y");
  const std::vector<float> data{0.25f, 0.75f, -1, 100, -100, 0};
  const std::vector<Feed> feeds{{"x", Dims2(1, 6), data.data()}};
  EXPECT_THAT(client.run<int8_t>(feeds, "q"), ElementsAre(0, 2, -2, 127, -128, 0));
  EXPECT_THAT(client.run(feeds), ElementsAre(0, 0.5, -0.5, 31.75, -32, 0));
}

TEST(QuantizeLayers, OneScalePerIndexOfAnAxis) {
  Quantizing client;
  ITensor* x = client.input("x", Dims2(2, 2));
  auto* quantized = client.network->addQuantize(*x, *client.numbers({1, {2}}, {1, 2}));
  ASSERT_TRUE(quantized);
  client.output(quantized->getOutput(0), "y");
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("needs an axis for its 2 scales"));
  quantized->setAxis(0);
  const std::vector<float> data{2, 4, 2, 4};
  const std::vector<Feed> feeds{{"x", Dims2(2, 2), data.data()}};
  EXPECT_THAT(client.run<int8_t>(feeds), ElementsAre(2, 4, 1, 2));
  quantized->setAxis(1);
  EXPECT_THAT(client.run<int8_t>(feeds), ElementsAre(2, 2, 2, 2));
  client.logger.errors.clear();
  client.recorder.clear();
  quantized->setAxis(2);
  EXPECT_TRUE(client.reported("axis 2 of a tensor of rank 2"));
  quantized->setToType(DataType::kINT64);
  EXPECT_TRUE(client.reported("kINT8, kFP8, kINT4 or kFP4"));
}

TEST(QuantizeLayers, OneScalePerBlock) {
  Quantizing client;
  ITensor* x = client.input("x", Dims2(2, 4));
  ITensor* scales = client.numbers(Dims2(2, 2), {1, 2, 4, 8});
  auto* quantized = client.network->addQuantize(*x, *scales, DataType::kINT4);
  ASSERT_TRUE(quantized);
  EXPECT_TRUE(quantized->setBlockShape(Dims2(1, 2)));
  EXPECT_THAT(listOf(quantized->getBlockShape()), ElementsAre(1, 2));
  auto* back = client.network->addDequantize(*quantized->getOutput(0), *scales, DataType::kFLOAT);
  client.output(back->getOutput(0), "y");
  const std::vector<float> data{1.2f, 9, 3, -100, 5, 6, 12, -40};
  EXPECT_THAT(client.run({{"x", Dims2(2, 4), data.data()}}),
              ElementsAre(1, 7, 4, -16, 4, 8, 16, -40));
  EXPECT_FALSE(quantized->setBlockShape(Dims2(1, 3)));
  EXPECT_TRUE(client.reported("has 2 scales along dimension 1"));
  EXPECT_FALSE(quantized->setBlockShape({1, {2}}));
  EXPECT_TRUE(client.reported("blocks of 1 dimensions"));
}

TEST(QuantizeLayers, NarrowFloatsAndZeroPoints) {
  Quantizing client;
  ITensor* x = client.input("x", {1, {4}});
  ITensor* scale = client.numbers({0, {}}, {2});
  auto* narrow = client.network->addQuantize(*x, *scale, DataType::kFP8);
  auto* back = client.network->addDequantize(*narrow->getOutput(0), *scale, DataType::kFLOAT);
  client.output(back->getOutput(0), "narrow");
  auto* shifted = client.network->addQuantize(*x, *scale, DataType::kUINT8);
  const std::vector<uint8_t> middle{128};
  shifted->setInput(
      2, *client.network->addConstant({0, {}}, weightsOf(middle, DataType::kUINT8))->getOutput(0));
  client.output(shifted->getOutput(0), "shifted");
  const std::vector<float> data{2.2f, -6, 2000, 0};
  const std::vector<Feed> feeds{{"x", {1, {4}}, data.data()}};
  // 1.1 becomes 1.125, with three binary digits behind the point, and 1000 the largest there is.
  EXPECT_THAT(client.run(feeds, "narrow"), ElementsAre(2.25, -6, 896, 0));
  EXPECT_THAT(client.run<uint8_t>(feeds, "shifted"), ElementsAre(129, 125, 255, 128));
}

TEST(QuantizeLayers, ScalesThatFollowFromTheData) {
  Quantizing client;
  ITensor* x = client.input("x", Dims2(2, 4));
  auto* dynamic = client.network->addDynamicQuantize(*x, 1, 2, DataType::kFP4, DataType::kFLOAT);
  ASSERT_TRUE(dynamic);
  EXPECT_EQ(dynamic->getNbOutputs(), 2);
  EXPECT_THAT(listOf(dynamic->getOutput(1)->getDimensions()), ElementsAre(2, 2));
  auto* back = client.network->addDequantize(*dynamic->getOutput(0), *dynamic->getOutput(1),
                                             DataType::kFLOAT);
  ASSERT_TRUE(back) << client.logger.errors.back();
  client.output(back->getOutput(0), "y");
  ITensor* scales = client.network->addCast(*dynamic->getOutput(1), DataType::kFLOAT)->getOutput(0);
  client.output(scales, "scales");
  // kFP4 has 0, 0.5, 1, 1.5, 2, 3, 4 and 6.
  const std::vector<float> data{6, 2.4f, 12, -5, 0, 0, 448, 1};
  const std::vector<Feed> feeds{{"x", Dims2(2, 4), data.data()}};
  EXPECT_THAT(client.run(feeds, "scales"), ElementsAre(1, 2, 0, testing::FloatEq(448.f / 6)));
  EXPECT_THAT(client.run(feeds), ElementsAre(6, 2, 12, -4, 0, 0, testing::FloatEq(448), 0));
  // Powers of two: 1, 2, the smallest, and 128 for 74.7; 448 / 128 lies between 3 and 4.
  dynamic->setScaleType(DataType::kE8M0);
  EXPECT_THAT(client.run(feeds, "scales"), ElementsAre(1, 2, testing::Lt(1e-30f), 128));
  EXPECT_THAT(client.run(feeds), ElementsAre(6, 2, 12, -4, 0, 0, 512, 0));
  dynamic->setBlockSize(3);
  EXPECT_TRUE(client.reported("cannot divide dimension 1"));
  dynamic->setToType(DataType::kINT8);
  EXPECT_TRUE(client.reported("kFP4 or kFP8"));
}

// Scales of 8 bits are themselves scaled by a number, by which values are divided too.
TEST(QuantizeLayers, ScalesOfScales) {
  Quantizing client;
  ITensor* x = client.input("x", Dims2(1, 2));
  auto* dynamic =
      client.network->addDynamicQuantizeV2(*x, Dims2(1, -1), DataType::kFP4, DataType::kFP8);
  ASSERT_TRUE(dynamic);
  dynamic->setInput(1, *client.numbers({0, {}}, {0.01f}));
  ITensor* values = client.network->addCast(*dynamic->getOutput(0), DataType::kFLOAT)->getOutput(0);
  ITensor* scales = client.network->addCast(*dynamic->getOutput(1), DataType::kFLOAT)->getOutput(0);
  client.output(values, "y");
  client.output(scales, "scales");
  const std::vector<float> data{6.6f, -1};  // 1.1 / 0.01 = 110 becomes 112
  const std::vector<Feed> feeds{{"x", Dims2(1, 2), data.data()}};
  EXPECT_THAT(client.run(feeds, "scales"), ElementsAre(112));
  EXPECT_THAT(client.run(feeds), ElementsAre(6, -1));
}

}  // namespace
}  // namespace camshaft::api
