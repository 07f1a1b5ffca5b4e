// Plugins of every class: added, built, stored, loaded and run.
#include <gmock/gmock.h>

#include "NvOnnxParser.h"
#include "api/plugins/test_plugins.h"
#include "api/test_client.h"
#include "testing/onnx_model.h"

namespace camshaft::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Creators are registered while a test runs, and no object of theirs is left behind it.
class PluginTest : public testing::Test {
 protected:
  void SetUp() override {
    pluginLog().initialized = pluginLog().terminated = pluginLog().attached = pluginLog().detached =
        pluginLog().shapeChanges = 0;
    for (IPluginCreatorInterface* creator : creators())
      ASSERT_TRUE(getPluginRegistry()->registerCreator(*creator, ""));
  }
  void TearDown() override {
    for (IPluginCreatorInterface* creator : creators())
      getPluginRegistry()->deregisterCreator(*creator);
    EXPECT_EQ(pluginLog().alive, 0);
  }
  std::vector<IPluginCreatorInterface*> creators() {
    return {&scale_, &reverse_, &positive_, &fill_, &bump_, &tactic_, &twice_, &add_, &subtract_};
  }

  template <class P>
  static IPluginV3Layer* add(Client& client, ITensor* input, std::vector<float> values = {}) {
    P plugin(std::move(values));
    return client.network->addPluginV3(&input, 1, nullptr, 0, plugin);
  }
  static void setRows(Client& client, int64_t min, int64_t opt, int64_t max, int64_t width,
                      std::initializer_list<const char*> inputs = {"x"}) {
    IOptimizationProfile* profile = client.builder->createOptimizationProfile();
    for (const char* name : inputs) {
      profile->setDimensions(name, OptProfileSelector::kMIN, Dims2(min, width));
      profile->setDimensions(name, OptProfileSelector::kOPT, Dims2(opt, width));
      profile->setDimensions(name, OptProfileSelector::kMAX, Dims2(max, width));
    }
    client.config->addOptimizationProfile(profile);
  }

  CreatorOf<ScalePlugin> scale_;
  CreatorOf<ReversePlugin> reverse_;
  CreatorOf<PositivePlugin> positive_;
  CreatorOf<FillPlugin> fill_;
  CreatorOf<BumpPlugin> bump_;
  CreatorOf<TacticPlugin> tactic_;
  CreatorOfV2<TwicePlugin> twice_;
  AddCreator add_;
  SubtractCreator subtract_;
};

TEST_F(PluginTest, GivesSeveralOutputsOfTheirOwnShapes) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 3));
  setRows(client, 1, 2, 4, 3);
  IPluginV3Layer* layer = add<ScalePlugin>(client, x, {2, 1});
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->getType(), LayerType::kPLUGIN_V3);
  EXPECT_EQ(layer->getNbOutputs(), 2);
  EXPECT_TRUE(layer->getPlugin().getCapabilityInterface(PluginCapabilityType::kBUILD));
  EXPECT_THAT(listOf(layer->getOutput(1)->getDimensions()), ElementsAre(-1));
  client.output(layer->getOutput(0), "y");
  client.output(layer->getOutput(1), "sums");
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::vector<float> data{0, 1, 2, 3, 4, 5};
  EXPECT_THAT(client.runEngine(*engine, {{"x", Dims2(2, 3), data.data()}}),
              ElementsAre(1, 3, 5, 7, 9, 11));
  EXPECT_THAT(client.runEngine(*engine, {{"x", Dims2(2, 3), data.data()}}, "sums"),
              ElementsAre(9, 27));
}

TEST_F(PluginTest, KeepsAStateForEachContext) {
  Client client;
  client.output(add<ReversePlugin>(client, client.input("x", Dims2(1, 3)))->getOutput(0), "y");
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::vector<float> data{1, 2, 3};
  for (int context = 0; context < 2; ++context)
    EXPECT_THAT(client.runEngine(*engine, {{"x", Dims2(1, 3), data.data()}}), ElementsAre(3, 2, 1));
  EXPECT_EQ(pluginLog().attached, 2);
}

TEST_F(PluginTest, IsToldWhenShapesChange) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 2));
  setRows(client, 1, 2, 4, 2);
  client.output(add<ReversePlugin>(client, x)->getOutput(0), "y");
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  std::vector<float> in(8), out(8);
  context->setTensorAddress("x", in.data());
  context->setTensorAddress("y", out.data());
  for (const int64_t rows : {2, 2, 4, 4, 2}) {
    ASSERT_TRUE(context->setInputShape("x", Dims2(rows, 2)));
    ASSERT_TRUE(context->enqueueV3(nullptr));
  }
  EXPECT_EQ(pluginLog().shapeChanges, 3);
  EXPECT_EQ(out[0], 4);  // the fifth run
}

TEST_F(PluginTest, StandsBetweenOtherLayers) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 2));
  ITensor* relu = client.network->addActivation(*x, ActivationType::kRELU)->getOutput(0);
  ITensor* scaled = add<ScalePlugin>(client, relu, {-1, 0})->getOutput(0);
  ITensor* same = add<ScalePlugin>(client, relu, {-1, 0})->getOutput(0);
  ITensor* sum =
      client.network->addElementWise(*scaled, *same, ElementWiseOperation::kSUM)->getOutput(0);
  client.output(sum, "y");
  const std::vector<float> data{-1, 1, 2, -3};
  EXPECT_THAT(client.run({{"x", Dims2(2, 2), data.data()}}), ElementsAre(0, -2, -4, 0));
}

struct OutputShape : IOutputAllocator {
  void* reallocateOutputAsync(const char*, void*, uint64_t size, uint64_t,
                              cudaStream_t) noexcept override {
    memory.resize(size / sizeof(float));
    return memory.data();
  }
  void notifyShape(const char*, const nvinfer1::Dims& given) noexcept override { dims = given; }
  nvinfer1::Dims dims{};
  std::vector<float> memory;
};

TEST_F(PluginTest, GivesAsManyResultsAsItCounts) {
  Client client;
  ITensor* x = client.input("x", nvinfer1::Dims{1, {5}});
  IPluginV3Layer* layer = add<PositivePlugin>(client, x);
  ASSERT_TRUE(layer);
  EXPECT_THAT(listOf(layer->getOutput(0)->getDimensions()), ElementsAre(-1, 1));
  client.output(layer->getOutput(0), "y");
  client.output(layer->getOutput(1), "count");
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  float in[] = {-1, 1, -2, 3, 0}, out[5] = {};
  int64_t count = -1;
  context->setTensorAddress("x", in);
  context->setTensorAddress("y", out);
  context->setTensorAddress("count", &count);
  OutputShape shape;
  context->setOutputAllocator("y", &shape);
  ASSERT_TRUE(context->enqueueV3(nullptr)) << client.logger.errors.back();
  EXPECT_EQ(count, 2);
  EXPECT_THAT(listOf(shape.dims), ElementsAre(2, 1));
  EXPECT_THAT(shape.memory, ElementsAre(1, 3));
}

TEST_F(PluginTest, TakesShapesFromTensors) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 2));
  setRows(client, 1, 2, 4, 2);
  ITensor* shape = client.network->addShape(*x)->getOutput(0);
  FillPlugin plugin;
  IPluginV3Layer* layer = client.network->addPluginV3(&x, 1, &shape, 1, plugin);
  ASSERT_TRUE(layer) << client.logger.errors.back();
  client.output(layer->getOutput(0), "y");
  const std::vector<float> data(6);
  EXPECT_THAT(client.run({{"x", Dims2(3, 2), data.data()}}), ElementsAre(6, 6, 6, 6, 6, 6));
  EXPECT_FALSE(client.network->addPluginV3(&x, 1, nullptr, 0, plugin));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("its getOutputShapes() returned 5"));
}

TEST_F(PluginTest, ChangesACopyOfItsInput) {
  Client client;
  client.output(add<BumpPlugin>(client, client.input("x", Dims2(1, 2)))->getOutput(0), "y");
  const std::vector<float> data{5, 6};
  EXPECT_THAT(client.run({{"x", Dims2(1, 2), data.data()}}), ElementsAre(6, 6));
  EXPECT_THAT(data, ElementsAre(5, 6));
}

TEST_F(PluginTest, RunsWithItsFastestTactic) {
  Client client;
  client.config->setBuilderOptimizationLevel(3);
  client.output(add<TacticPlugin>(client, client.input("x", Dims2(1, 2)))->getOutput(0), "y");
  const std::vector<float> data{0, 0};
  EXPECT_THAT(client.run({{"x", Dims2(1, 2), data.data()}}), ElementsAre(4, 4));
}

TEST_F(PluginTest, OfVersionTwoWithDynamicShapes) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 2));
  setRows(client, 1, 2, 4, 2);
  TwicePlugin plugin(10);
  IPluginV2Layer* layer = client.network->addPluginV2(&x, 1, plugin);
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->getType(), LayerType::kPLUGIN_V2);
  EXPECT_STREQ(layer->getPlugin().getPluginType(), "TestTwice");
  client.output(layer->getOutput(0), "y");
  const std::vector<float> data{1, 2};
  EXPECT_THAT(client.run({{"x", Dims2(1, 2), data.data()}}), ElementsAre(11, 12, 11, 12));
  EXPECT_THAT(listOf(client.shape), ElementsAre(2, 2));
  EXPECT_EQ(pluginLog().shapeChanges, 1);
  EXPECT_EQ(pluginLog().initialized, 1);
  EXPECT_EQ(pluginLog().terminated, 1);
  EXPECT_EQ(pluginLog().attached, pluginLog().detached);
}

TEST_F(PluginTest, OfVersionTwoSeesNoBatch) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 3));
  setRows(client, 1, 2, 4, 3);
  AddPlugin plugin(0.5f);
  client.output(client.network->addPluginV2(&x, 1, plugin)->getOutput(0), "y");
  const std::vector<float> data{1, 2, 3, 4, 5, 6};
  EXPECT_THAT(client.run({{"x", Dims2(2, 3), data.data()}}),
              ElementsAre(1.5, 2.5, 3.5, 4.5, 5.5, 6.5));
}

TEST_F(PluginTest, OfVersionTwoIsConfiguredPieceByPiece) {
  Client client;
  ITensor* inputs[] = {client.input("x", Dims2(-1, 3)), client.input("z", Dims2(-1, 3))};
  setRows(client, 1, 2, 4, 3, {"x", "z"});
  SubtractPlugin plugin(0.5f);
  IPluginV2Layer* layer = client.network->addPluginV2(inputs, 2, plugin);
  ASSERT_TRUE(layer) << client.logger.errors.back();
  EXPECT_THAT(listOf(layer->getOutput(0)->getDimensions()), ElementsAre(-1, 3));
  client.output(layer->getOutput(0), "y");
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, z{1, 0, 1, 0, 1, 0};
  EXPECT_THAT(client.run({{"x", Dims2(2, 3), x.data()}, {"z", Dims2(2, 3), z.data()}}),
              ElementsAre(-0.5, 1.5, 1.5, 3.5, 3.5, 5.5));
  // Half precision is what it does not take.
  Client other;
  ITensor* halves[] = {other.input("x", Dims2(1, 3), nvinfer1::DataType::kHALF),
                       other.input("z", Dims2(1, 3), nvinfer1::DataType::kHALF)};
  other.output(other.network->addPluginV2(halves, 2, plugin)->getOutput(0), "y");
  EXPECT_FALSE(other.build());
  EXPECT_THAT(other.logger.errors.back(), HasSubstr("does not take linear f16 as its input 0"));
}

// Weights of layers around plugins are replaced; the plugins, which nobody asks, stay.
TEST_F(PluginTest, StaysWhenOtherLayersAreRefitted) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 3));
  setRows(client, 1, 2, 4, 3);
  const std::vector<float> first{1, 1, 1}, second{2, 3, 4};
  IConstantLayer* weights = client.network->addConstant(Dims2(1, 3), weightsOf(first));
  weights->setName("weights");
  ITensor* scaled = add<ScalePlugin>(client, x, {2, 1})->getOutput(0);
  ITensor* product =
      client.network->addElementWise(*scaled, *weights->getOutput(0), ElementWiseOperation::kPROD)
          ->getOutput(0);
  TwicePlugin twice(10);
  ITensor* doubled = client.network->addPluginV2(&product, 1, twice)->getOutput(0);
  client.output(add<TacticPlugin>(client, doubled)->getOutput(0), "tactic");
  client.output(doubled, "y");
  client.config->setBuilderOptimizationLevel(3);
  client.config->setFlag(BuilderFlag::kREFIT);
  for (const bool isStripped : {false, true}) {
    if (isStripped) client.config->setFlag(BuilderFlag::kSTRIP_PLAN);
    const auto engine = client.build();
    ASSERT_TRUE(engine) << client.logger.errors.back();
    const int objects = pluginLog().alive;
    const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
    ASSERT_TRUE(refitter->setWeights("weights", WeightsRole::kCONSTANT, weightsOf(second)));
    ASSERT_TRUE(refitter->refitCudaEngine()) << client.logger.errors.back();
    EXPECT_EQ(pluginLog().alive, objects);
    const std::vector<float> data{0, 1, 2};
    const std::vector<Feed> feeds{{"x", Dims2(1, 3), data.data()}};
    EXPECT_THAT(client.runEngine(*engine, feeds), ElementsAre(12, 19, 30, 12, 19, 30));
    EXPECT_THAT(client.runEngine(*engine, feeds, "tactic"), ElementsAre(4, 4, 4, 4, 4, 4));
  }
}

TEST_F(PluginTest, ThatFailsEndsTheRunInWords) {
  Client client;
  client.output(add<ReversePlugin>(client, client.input("x", Dims2(1, 2)), {3})->getOutput(0), "y");
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  float in[2] = {}, out[2];
  context->setTensorAddress("x", in);
  context->setTensorAddress("y", out);
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(client.logger.errors.back(),
            "layer 'plugin_0': plugin 'TestReverse' of version '1' failed: its enqueue() returned "
            "3");
}

TEST_F(PluginTest, WithoutCreatorIsNamedWhenLoading) {
  Client client;
  client.output(add<ReversePlugin>(client, client.input("x", Dims2(1, 2)))->getOutput(0), "y");
  const std::unique_ptr<IHostMemory> file(
      client.builder->buildSerializedNetwork(*client.network, *client.config));
  ASSERT_TRUE(file);
  getPluginRegistry()->deregisterCreator(reverse_);
  EXPECT_FALSE(client.runtime->deserializeCudaEngine(file->data(), file->size()));
  EXPECT_THAT(client.logger.errors.back(),
              HasSubstr("layer 'plugin_0': plugin 'TestReverse' of version '1' has no creator "
                        "here; register it with getPluginRegistry()->registerCreator()"));
  // A runtime has a registry of its own.
  EXPECT_TRUE(client.runtime->getPluginRegistry().registerCreator(reverse_, ""));
  const std::unique_ptr<ICudaEngine> engine(
      client.runtime->deserializeCudaEngine(file->data(), file->size()));
  EXPECT_TRUE(engine);
}

TEST_F(PluginTest, ThatTakesNoSuchTypeIsRefusedInWords) {
  Client client;
  ITensor* x = client.input("x", Dims2(1, 2), nvinfer1::DataType::kHALF);
  client.output(add<ScalePlugin>(client, x, {1, 0})->getOutput(0), "y");
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("does not take linear f16 as its input 0"));
}

TEST_F(PluginTest, IsWhatANodeOfAModelNames) {
  Client client;
  const std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*client.network, client.logger));
  const std::string model =
      onnx::TestModel()
          .input("x", {2, 2})
          .node({"TestScale", {"x"}, {"h", "sums"}, {{"values", std::vector<float>{3, 1}}}})
          .node({"Neg", {"h"}, {"y"}})
          .output("y")
          .bytes();
  EXPECT_TRUE(parser->supportsOperator("TestScale"));
  ASSERT_TRUE(parser->parse(model.data(), model.size())) << client.logger.errors.back();
  EXPECT_EQ(client.network->getLayer(0)->getType(), LayerType::kPLUGIN_V3);
  const std::vector<float> data{0, 1, 2, 3};
  EXPECT_THAT(client.run({{"x", Dims2(2, 2), data.data()}}), ElementsAre(-1, -4, -7, -10));
}

}  // namespace
}  // namespace camshaft::api
