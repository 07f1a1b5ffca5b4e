// Inputs whose values decide shapes, and outputs that hold some; also run on the emulated GPU.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;
using Integers = std::vector<int64_t>;

void describeValues(Client& client, const char* input, const Integers& min, const Integers& opt,
                    const Integers& max) {
  auto* profile = client.builder->createOptimizationProfile();
  const auto count = static_cast<int32_t>(min.size());
  EXPECT_TRUE(profile->setShapeValuesV2(input, OptProfileSelector::kMIN, min.data(), count));
  EXPECT_TRUE(profile->setShapeValuesV2(input, OptProfileSelector::kOPT, opt.data(), count));
  EXPECT_TRUE(profile->setShapeValuesV2(input, OptProfileSelector::kMAX, max.data(), count));
  EXPECT_EQ(client.config->addOptimizationProfile(profile), 0);
}

// y = the first s + s elements of x; n = s + s, as an output for shapes.
struct Cut : Client {
  ITensor* x = input("x", {1, {12}});
  ITensor* s = input("s", {1, {1}}, DataType::kINT64);
  ITensor* twice = network->addElementWise(*s, *s, ElementWiseOperation::kSUM)->getOutput(0);
  Cut() {
    auto* slice = network->addSlice(*x, {1, {0}}, {1, {1}}, {1, {1}});
    slice->setInput(2, *twice);
    output(slice->getOutput(0), "y");
    twice->setName("n");
    EXPECT_TRUE(network->markOutputForShapes(*twice));
    describeValues(*this, "s", {1}, {2}, {5});
  }
};

TEST(ShapeTensors, DecideShapesBeforeAnythingRuns) {
  Cut client;
  EXPECT_TRUE(client.s->isShapeTensor());
  EXPECT_FALSE(client.x->isShapeTensor());
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  EXPECT_TRUE(engine->isShapeInferenceIO("s"));
  EXPECT_TRUE(engine->isShapeInferenceIO("n"));
  EXPECT_FALSE(engine->isShapeInferenceIO("x"));
  EXPECT_EQ(engine->getTensorLocation("s"), TensorLocation::kHOST);
  EXPECT_EQ(engine->getProfileTensorValuesV2("s", 0, OptProfileSelector::kMIN)[0], 1);
  EXPECT_EQ(engine->getProfileTensorValuesV2("s", 0, OptProfileSelector::kOPT)[0], 2);
  EXPECT_EQ(engine->getProfileTensorValuesV2("s", 0, OptProfileSelector::kMAX)[0], 5);
  EXPECT_EQ(engine->getProfileTensorValues("s", 0, OptProfileSelector::kMAX)[0], 5);
  EXPECT_EQ(engine->getProfileTensorValuesV2("x", 0, OptProfileSelector::kMAX), nullptr);
  EXPECT_EQ(engine->getProfileTensorValuesV2("s", 1, OptProfileSelector::kMAX), nullptr);

  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  const std::vector<float> data = iota(12);
  TestMemory x(*engine, data.data(), 48), y(*engine, nullptr, 40), n(*engine, nullptr, 8);
  context->setTensorAddress("x", x.data());
  context->setTensorAddress("y", y.data());
  context->setTensorAddress("n", n.data());
  EXPECT_FALSE(context->allInputShapesSpecified());
  const char* missing[2] = {};
  EXPECT_EQ(context->inferShapes(2, missing), 1);
  EXPECT_STREQ(missing[0], "s");
  EXPECT_EQ(context->inferShapes(1, nullptr), -1);
  EXPECT_THAT(listOf(context->getTensorShape("y")), ElementsAre(-1));
  EXPECT_EQ(context->getMaxOutputSize("y"), 40);
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("shape input 's' has no address"));

  for (int64_t size : {3, 5, 1, 3}) {
    ASSERT_TRUE(context->setInputTensorAddress("s", &size));
    EXPECT_TRUE(context->allInputShapesSpecified());
    EXPECT_THAT(listOf(context->getTensorShape("y")), ElementsAre(2 * size));
    EXPECT_EQ(context->getMaxOutputSize("y"), 8 * size);
    EXPECT_EQ(context->inferShapes(0, nullptr), 0);
    EXPECT_THAT(n.read<int64_t>(), ElementsAre(2 * size)) << "written without a run";
    ASSERT_TRUE(context->enqueueV3(nullptr)) << client.logger.errors.back();
    std::vector<float> first = y.read<float>();
    first.resize(static_cast<size_t>(2 * size));
    EXPECT_EQ(first, iota(2 * size));
    EXPECT_THAT(n.read<int64_t>(), ElementsAre(2 * size));
  }
  const int64_t tooMuch = 6;
  ASSERT_TRUE(context->setInputTensorAddress("s", &tooMuch));
  EXPECT_EQ(context->inferShapes(0, nullptr), -1);
  EXPECT_THAT(client.logger.errors.back(),
              HasSubstr("shape input 's': element 0 is 6 and profile 0 allows 1 to 5"));
  EXPECT_FALSE(context->enqueueV3(nullptr));
}

TEST(ShapeTensors, OfAShuffleAndOfInt32) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 6));
  ITensor* wanted = client.input("shape", {1, {2}}, DataType::kINT32);
  auto* shuffle = client.network->addShuffle(*x);
  shuffle->setInput(1, *wanted);
  client.output(shuffle->getOutput(0), "y");
  describeValues(client, "shape", {1, 1}, {4, 3}, {12, 12});
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  EXPECT_EQ(engine->getProfileTensorValues("shape", 0, OptProfileSelector::kOPT)[1], 3);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  const std::vector<float> data = iota(12);
  TestMemory in(*engine, data.data(), 48), out(*engine, nullptr, 48);
  context->setTensorAddress("x", in.data());
  context->setTensorAddress("y", out.data());
  const int32_t sizes[] = {3, 4}, wrong[] = {3, 5};
  ASSERT_TRUE(context->setInputTensorAddress("shape", sizes));
  EXPECT_THAT(listOf(context->getTensorShape("y")), ElementsAre(3, 4));
  ASSERT_TRUE(context->enqueueV3(nullptr)) << client.logger.errors.back();
  EXPECT_EQ(out.read<float>(), data);
  ASSERT_TRUE(context->setInputTensorAddress("shape", wrong));
  EXPECT_FALSE(context->enqueueV3(nullptr));
}

TEST(ShapeTensors, ProfilesMustGiveAllValues) {
  Cut client;
  auto* profile = client.builder->createOptimizationProfile();
  const Integers two{1, 2};
  for (const auto select :
       {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX})
    profile->setShapeValuesV2("s", select, two.data(), 2);
  client.config->addOptimizationProfile(profile);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("shape tensor 's' 2 values where it has 1"));
}

TEST(ShapeTensors, OutputsForShapesAreIntegersOfOneDimension) {
  Client client;
  ITensor* x = client.input("x", {1, {2}});
  ITensor* table = client.input("table", Dims2(2, 2), DataType::kINT32);
  EXPECT_FALSE(client.network->markOutputForShapes(
      *client.network->addActivation(*x, ActivationType::kRELU)->getOutput(0)));
  EXPECT_TRUE(client.reported("is f32[2] and an output for shapes has integers in one dimension"));
  EXPECT_FALSE(client.network->markOutputForShapes(
      *client.network->addElementWise(*table, *table, ElementWiseOperation::kSUM)->getOutput(0)));
  EXPECT_TRUE(client.reported("is i32[2, 2] and an output for shapes"));
}

TEST(ShapeTensors, NamedDimensionsMustAgree) {
  Client client;
  ITensor* a = client.input("a", {1, {-1}});
  ITensor* b = client.input("b", {1, {-1}});
  EXPECT_EQ(a->getDimensionName(0), nullptr);
  a->setDimensionName(0, "n");
  b->setDimensionName(0, "n");
  EXPECT_STREQ(b->getDimensionName(0), "n");
  client.output(client.network->addElementWise(*a, *b, ElementWiseOperation::kSUM)->getOutput(0),
                "y");
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_TRUE(context->setInputShape("a", {1, {3}}));
  EXPECT_TRUE(context->setInputShape("b", {1, {4}}));
  const std::vector<float> data = iota(4);
  TestMemory in(*engine, data.data(), 16), out(*engine, nullptr, 16);
  context->setTensorAddress("a", in.data());
  context->setTensorAddress("b", in.data());
  context->setTensorAddress("y", out.data());
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("dimension 'n' is 3"));
}

}  // namespace
}  // namespace camshaft::api
