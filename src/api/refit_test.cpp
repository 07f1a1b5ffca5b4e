// Refitting engines through the public API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "NvOnnxParser.h"
#include "api/test_client.h"
#include "testing/onnx_model.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<float> randomNumbers(size_t count, uint32_t seed, float low = -1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(low, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = uniform(random);
  return numbers;
}

// A convolution, a normalisation and a product, with weights by seed; zeros for seed 0.
std::string modelOf(uint32_t seed) {
  uint32_t next = seed * 100;
  const auto weights = [&](size_t count, float low = -1) {
    ++next;
    return seed == 0 ? std::vector<float>(count) : randomNumbers(count, next, low);
  };
  onnx::TestModel model;
  model.input("x", {1, 2, 4, 4})
      .floats("w", {3, 2, 3, 3}, weights(54))
      .floats("scale", {3}, weights(3))
      .floats("shift", {3}, weights(3))
      .floats("mean", {3}, weights(3))
      .floats("variance", {3}, weights(3, 0.5f))
      .floats("m", {12, 5}, weights(60))
      .floats("c", {5}, weights(5))
      .node({"Conv", {"x", "w"}, {"k"}, {}, "conv"})
      .node({"BatchNormalization", {"k", "scale", "shift", "mean", "variance"}, {"n"}, {}, "norm"})
      .node({"Relu", {"n"}, {"r"}, {}, "relu"})
      .node({"Flatten", {"r"}, {"f"}, {}, "flatten"})
      .node({"Gemm", {"f", "m", "c"}, {"y"}, {}, "gemm"})
      .output("y");
  return model.bytes();
}

struct ModelClient : Client {
  explicit ModelClient(const std::string& model, std::initializer_list<BuilderFlag> flags = {}) {
    parser.reset(nvonnxparser::createParser(*network, logger));
    EXPECT_TRUE(parser->parse(model.data(), model.size()));
    for (const BuilderFlag flag : flags) config->setFlag(flag);
  }
  std::unique_ptr<nvonnxparser::IParser> parser;
};

const std::vector<float>& inputOf() {
  static const std::vector<float> x = randomNumbers(32, 7);
  return x;
}

std::vector<float> resultOf(Client& client, ICudaEngine& engine) {
  return client.runEngine(engine, {{"x", {4, {1, 2, 4, 4}}, inputOf().data()}});
}

std::vector<float> resultOf(uint32_t seed) {
  ModelClient client(modelOf(seed));
  const auto engine = client.build();
  return resultOf(client, *engine);
}

void expectNear(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-4 * (1 + std::fabs(want[i]))) << i;
}

std::vector<std::string> namesOf(IRefitter& refitter,
                                 int32_t (IRefitter::*list)(int32_t, const char**)) {
  std::vector<const char*> names(static_cast<size_t>((refitter.*list)(0, nullptr)));
  (refitter.*list)(static_cast<int32_t>(names.size()), names.data());
  return {names.begin(), names.end()};
}

void refitFrom(const std::string& model, IRefitter& refitter, Client& client) {
  const std::unique_ptr<nvonnxparser::IParserRefitter> parser(
      nvonnxparser::createParserRefitter(refitter, client.logger));
  ASSERT_TRUE(parser->refitFromBytes(model.data(), model.size())) << parser->getError(0)->desc();
  EXPECT_EQ(parser->getNbErrors(), 0);
}

TEST(Refit, OfAModelComputesWithItsWeights) {
  for (const uint32_t first : {1u, 0u}) {
    ModelClient client(modelOf(first), {BuilderFlag::kREFIT});
    const auto engine = client.build();
    ASSERT_TRUE(engine->isRefittable());
    const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
    EXPECT_THAT(namesOf(*refitter, &IRefitter::getAllWeights),
                UnorderedElementsAre("w", "scale", "shift", "mean", "variance", "m", "c"));
    EXPECT_EQ(refitter->getMissingWeights(0, nullptr), 0);
    refitFrom(modelOf(2), *refitter, client);
    ASSERT_TRUE(refitter->refitCudaEngine());
    expectNear(resultOf(client, *engine), resultOf(2));
  }
}

TEST(Refit, ReachesContextsThatAreThere) {
  ModelClient client(modelOf(1), {BuilderFlag::kREFIT});
  const auto engine = client.build();
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  std::vector<float> y(5);
  context->setInputTensorAddress("x", inputOf().data());
  context->setTensorAddress("y", y.data());
  ASSERT_TRUE(context->enqueueV3(nullptr));
  expectNear(y, resultOf(1));
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  refitFrom(modelOf(2), *refitter, client);
  ASSERT_TRUE(refitter->refitCudaEngineAsync(nullptr));
  ASSERT_TRUE(context->enqueueV3(nullptr));
  expectNear(y, resultOf(2));
}

// Some weights by name, and one by its layer.
TEST(Refit, TakesSomeOfTheWeights) {
  ModelClient client(modelOf(1), {BuilderFlag::kREFIT});
  const auto engine = client.build();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  const std::vector<float> w = randomNumbers(54, 201), c = randomNumbers(5, 207);
  EXPECT_TRUE(refitter->setWeights("conv", WeightsRole::kKERNEL, weightsOf(w)));
  EXPECT_TRUE(refitter->setNamedWeights("c", weightsOf(c), TensorLocation::kHOST));
  EXPECT_EQ(refitter->getNamedWeights("c").values, c.data());
  EXPECT_EQ(refitter->getNamedWeights("m").values, nullptr);
  EXPECT_EQ(refitter->getWeightsLocation("c"), TensorLocation::kHOST);
  EXPECT_EQ(refitter->getWeightsPrototype("w").count, 54);
  EXPECT_EQ(refitter->getWeightsPrototype("w").values, nullptr);
  ASSERT_TRUE(refitter->refitCudaEngine());

  // What the rest of model 1 and these weights make.
  const std::vector<float> mixed = resultOf(client, *engine);
  EXPECT_TRUE(refitter->unsetNamedWeights("c"));
  EXPECT_FALSE(refitter->unsetNamedWeights("c"));
  refitFrom(modelOf(1), *refitter, client);
  ASSERT_TRUE(refitter->refitCudaEngine());
  expectNear(resultOf(client, *engine), resultOf(1));
  EXPECT_THAT(mixed, ::testing::Not(::testing::ElementsAreArray(resultOf(client, *engine))));
}

TEST(Refit, RefusesWeightsThatDoNotFit) {
  ModelClient client(modelOf(1), {BuilderFlag::kREFIT});
  const auto engine = client.build();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  const std::vector<float> four(4);
  const std::vector<int32_t> five(5);
  struct Wrong {
    const char* name;
    Weights weights;
    TensorLocation location;
    const char* sentence;
  };
  const Wrong kWrong[] = {
      {"c", weightsOf(four), TensorLocation::kHOST, "'c' are f32[5], so they need 5 elements"},
      {"c", weightsOf(five, nvinfer1::DataType::kINT32), TensorLocation::kHOST, "of type i32"},
      {"c", {nvinfer1::DataType::kFLOAT, nullptr, 5}, TensorLocation::kHOST, "no values"},
      {"vairance", weightsOf(four), TensorLocation::kHOST, "did you mean 'variance'?"},
      {nullptr, weightsOf(four), TensorLocation::kHOST, "(null)"},
      {"c", weightsOf(randomNumbers(5, 1)), TensorLocation::kDEVICE, "is for the CPU"},
  };
  for (const Wrong& wrong : kWrong) {
    client.logger.errors.clear();
    EXPECT_FALSE(refitter->setNamedWeights(wrong.name, wrong.weights, wrong.location));
    ASSERT_EQ(client.logger.errors.size(), 1u);
    EXPECT_THAT(client.logger.errors[0], HasSubstr(wrong.sentence));
  }
  EXPECT_FALSE(refitter->setWeights("conv", WeightsRole::kBIAS, weightsOf(four)));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("layer 'conv' has no weights of that role"));
  EXPECT_FALSE(refitter->setDynamicRange("x", 0, 1));
  EXPECT_TRUE(std::isnan(refitter->getDynamicRangeMin("x")));
  EXPECT_EQ(refitter->getTensorsWithDynamicRange(0, nullptr), 0);
  expectNear(resultOf(client, *engine), resultOf(1));
}

TEST(Refit, GivesAStrippedEngineItsWeights) {
  for (const bool isRefittable : {true, false}) {
    ModelClient client(modelOf(1), {BuilderFlag::kSTRIP_PLAN});
    if (isRefittable) client.config->setFlag(BuilderFlag::kREFIT);
    const auto engine = client.build();
    EXPECT_EQ(engine->createExecutionContext(), nullptr);
    EXPECT_THAT(client.logger.errors.back(), HasSubstr("stripped of its weights; refit it"));
    const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
    EXPECT_EQ(refitter->getMissingWeights(0, nullptr), refitter->getAllWeights(0, nullptr));
    const std::vector<float> c = randomNumbers(5, 107);
    EXPECT_TRUE(refitter->setNamedWeights("c", weightsOf(c)));
    const auto missing = namesOf(*refitter, &IRefitter::getMissingWeights);
    EXPECT_EQ(missing.size(), 6u);
    EXPECT_THAT(missing, ::testing::Not(::testing::Contains("c")));
    EXPECT_FALSE(refitter->refitCudaEngine());
    EXPECT_THAT(client.logger.errors.back(), HasSubstr("6 of its weights are still to be set"));
    refitFrom(modelOf(1), *refitter, client);
    EXPECT_EQ(refitter->getMissing(0, nullptr, nullptr), 0);
    ASSERT_TRUE(refitter->refitCudaEngine());
    expectNear(resultOf(client, *engine), resultOf(1));
  }
}

TEST(Refit, OfIdenticalWeightsRefusesWhatChangesThePlan) {
  ModelClient client(modelOf(0), {BuilderFlag::kREFIT_IDENTICAL});
  const auto engine = client.build();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  refitFrom(modelOf(0), *refitter, client);
  EXPECT_TRUE(refitter->refitCudaEngine());
  refitFrom(modelOf(1), *refitter, client);
  if (refitter->refitCudaEngine())
    expectNear(resultOf(client, *engine), resultOf(1));
  else
    EXPECT_THAT(client.logger.errors.back(), HasSubstr("change more than weights"));
}

TEST(Refit, OfMarkedWeightsAlone) {
  ModelClient client(modelOf(1), {BuilderFlag::kREFIT_INDIVIDUAL});
  EXPECT_FALSE(client.network->markWeightsRefittable("nothing"));
  EXPECT_TRUE(client.reported("no weights 'nothing'"));
  EXPECT_TRUE(client.network->markWeightsRefittable("c"));
  EXPECT_TRUE(client.network->markWeightsRefittable("m"));
  EXPECT_TRUE(client.network->areWeightsMarkedRefittable("m"));
  EXPECT_TRUE(client.network->unmarkWeightsRefittable("m"));
  EXPECT_FALSE(client.network->areWeightsMarkedRefittable("m"));
  const auto engine = client.build();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  EXPECT_THAT(namesOf(*refitter, &IRefitter::getAllWeights), ElementsAre("c"));
  const std::unique_ptr<nvonnxparser::IParserRefitter> parser(
      nvonnxparser::createParserRefitter(*refitter, client.logger));
  const std::string other = modelOf(2);
  EXPECT_FALSE(parser->refitFromBytes(other.data(), other.size()));
  ASSERT_GT(parser->getNbErrors(), 0);
  EXPECT_THAT(parser->getError(0)->desc(), HasSubstr("has other values than the engine was built"));
}

TEST(Refit, OfALayerThatWasAddedByACall) {
  Client client;
  client.config->setFlag(BuilderFlag::kREFIT);
  const std::vector<float> kernel = randomNumbers(9, 1), bias(1), scale{2}, shift{0}, power{1};
  ITensor& x = *client.input("x", {4, {1, 1, 4, 4}});
  ILayer& conv =
      *client.network->addConvolutionNd(x, 1, {2, {3, 3}}, weightsOf(kernel), weightsOf(bias));
  conv.setName("conv");
  ILayer& scaled = *client.network->addScale(*conv.getOutput(0), ScaleMode::kUNIFORM,
                                             weightsOf(shift), weightsOf(scale), weightsOf(power));
  scaled.setName("scaled");
  client.output(scaled.getOutput(0), "y");
  EXPECT_TRUE(client.network->setWeightsName(weightsOf(kernel), "my kernel"));
  EXPECT_FALSE(client.network->setWeightsName(weightsOf(randomNumbers(9, 1)), "nobody's"));
  EXPECT_TRUE(client.reported("of no layer of the network"));
  const auto engine = client.build();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  std::vector<const char*> layers(static_cast<size_t>(refitter->getAll(0, nullptr, nullptr)));
  std::vector<WeightsRole> roles(layers.size());
  refitter->getAll(static_cast<int32_t>(layers.size()), layers.data(), roles.data());
  std::map<std::pair<std::string, int>, int> found;
  for (size_t i = 0; i < layers.size(); ++i) ++found[{layers[i], static_cast<int>(roles[i])}];
  EXPECT_TRUE(found.contains({"conv", static_cast<int>(WeightsRole::kKERNEL)}));
  EXPECT_TRUE(found.contains({"conv", static_cast<int>(WeightsRole::kBIAS)}));
  EXPECT_TRUE(found.contains({"scaled", static_cast<int>(WeightsRole::kSCALE)}));

  const std::vector<float> ones(9, 1), three{3}, x16 = iota(16);
  EXPECT_TRUE(refitter->setNamedWeights("my kernel", weightsOf(ones)));
  EXPECT_TRUE(refitter->setWeights("conv", WeightsRole::kBIAS, weightsOf(three)));
  ASSERT_TRUE(refitter->refitCudaEngine()) << client.logger.errors.back();
  const auto y = client.runEngine(*engine, {{"x", {4, {1, 1, 4, 4}}, x16.data()}});
  EXPECT_THAT(y, ElementsAre(2 * (45 + 3), 2 * (54 + 3), 2 * (81 + 3), 2 * (90 + 3)));
}

TEST(Refit, ConstantLayersGoByTheirNames) {
  Client client;
  client.config->setFlag(BuilderFlag::kREFIT);
  ITensor& x = *client.input("x", {1, {3}});
  const std::vector<float> zeros(3), offsets{1, 2, 3}, data{10, 20, 30};
  ILayer& constant = *client.network->addConstant({1, {3}}, weightsOf(zeros));
  constant.setName("offset");
  client.output(
      client.network->addElementWise(x, *constant.getOutput(0), ElementWiseOperation::kSUM)
          ->getOutput(0),
      "y");
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  ASSERT_TRUE(refitter->setWeights("offset", WeightsRole::kCONSTANT, weightsOf(offsets)))
      << client.logger.errors.back();
  ASSERT_TRUE(refitter->refitCudaEngine()) << client.logger.errors.back();
  EXPECT_THAT(client.runEngine(*engine, {{"x", {1, {3}}, data.data()}}), ElementsAre(11, 22, 33));
}

// What was refitted goes into files: with weights, without, and for good.
TEST(Refit, IsSerialised) {
  ModelClient client(modelOf(1), {BuilderFlag::kREFIT});
  const auto engine = client.build();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  refitFrom(modelOf(2), *refitter, client);
  ASSERT_TRUE(refitter->refitCudaEngine());
  const auto again = [&](const std::unique_ptr<IHostMemory>& file) {
    return std::unique_ptr<ICudaEngine>(
        client.runtime->deserializeCudaEngine(file->data(), file->size()));
  };
  const std::unique_ptr<ISerializationConfig> config(engine->createSerializationConfig());

  const std::unique_ptr<IHostMemory> whole(engine->serialize());
  const auto refittable = again(whole);
  EXPECT_TRUE(refittable->isRefittable());
  expectNear(resultOf(client, *refittable), resultOf(2));

  const std::unique_ptr<IHostMemory> final(engine->serializeWithConfig(*config));
  EXPECT_LT(final->size(), whole->size());
  const auto fixed = again(final);
  EXPECT_FALSE(fixed->isRefittable());
  expectNear(resultOf(client, *fixed), resultOf(2));

  config->setFlag(SerializationFlag::kINCLUDE_REFIT);
  const std::unique_ptr<IHostMemory> included(engine->serializeWithConfig(*config));
  EXPECT_TRUE(again(included)->isRefittable());

  config->setFlag(SerializationFlag::kEXCLUDE_WEIGHTS);
  const std::unique_ptr<IHostMemory> stripped(engine->serializeWithConfig(*config));
  EXPECT_LT(stripped->size(), whole->size());
  const auto empty = again(stripped);
  EXPECT_GT(empty->getEngineStat(EngineStat::kSTRIPPED_WEIGHTS_SIZE), 0);
  const std::unique_ptr<IRefitter> second(createInferRefitter(*empty, client.logger));
  EXPECT_EQ(second->getMissingWeights(0, nullptr), 7);
  refitFrom(modelOf(1), *second, client);
  ASSERT_TRUE(second->refitCudaEngine());
  expectNear(resultOf(client, *empty), resultOf(1));
}

TEST(Refit, ReadsModelsInSteps) {
  ModelClient client(modelOf(1), {BuilderFlag::kREFIT});
  const auto engine = client.build();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, client.logger));
  const std::unique_ptr<nvonnxparser::IParserRefitter> parser(
      nvonnxparser::createParserRefitter(*refitter, client.logger));
  EXPECT_FALSE(parser->refitModelProto());
  EXPECT_THAT(parser->getError(0)->desc(), HasSubstr("needs loadModelProto first"));
  EXPECT_FALSE(parser->refitFromBytes("no model", 8));
  EXPECT_EQ(parser->getNbErrors(), 1);
  const std::string model = modelOf(2);
  ASSERT_TRUE(parser->loadModelProto(model.data(), model.size()));
  EXPECT_EQ(parser->getNbErrors(), 0);
  EXPECT_FALSE(parser->loadInitializer("c", "", 1));
  const std::vector<float> c(5);
  EXPECT_TRUE(parser->loadInitializer("c", c.data(), 20));
  ASSERT_TRUE(parser->refitModelProto());
  ASSERT_TRUE(refitter->refitCudaEngine());
  const auto with = resultOf(client, *engine), without = resultOf(2);
  const std::vector<float> bias = randomNumbers(5, 207);
  for (size_t i = 0; i < with.size(); ++i) EXPECT_NEAR(with[i] + bias[i], without[i], 1e-4);
}

// All weights of a CPU engine are on the host, whatever stays on the device.
TEST(WeightStreaming, OfACpuEngineKeepsEveryBudget) {
  ModelClient client(modelOf(1), {BuilderFlag::kWEIGHT_STREAMING});
  const auto engine = client.build();
  const int64_t all = engine->getStreamableWeightsSize();
  EXPECT_GT(all, 0);
  EXPECT_EQ(engine->getWeightStreamingBudgetV2(), all);
  EXPECT_EQ(engine->getWeightStreamingBudget(), 0);  // no streaming
  EXPECT_EQ(engine->getMinimumWeightStreamingBudget(), 0);
  EXPECT_EQ(engine->getWeightStreamingAutomaticBudget(), all);
  EXPECT_EQ(engine->getWeightStreamingScratchMemorySize(), 0);
  EXPECT_TRUE(engine->setWeightStreamingBudgetV2(64));
  EXPECT_EQ(engine->getWeightStreamingBudgetV2(), 64);
  EXPECT_EQ(engine->getWeightStreamingBudget(), 64);
  expectNear(resultOf(client, *engine), resultOf(1));
  EXPECT_TRUE(engine->setWeightStreamingBudget(-1));
  EXPECT_EQ(engine->getWeightStreamingBudgetV2(), all);
  EXPECT_FALSE(engine->setWeightStreamingBudgetV2(-1));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("cannot be -1 bytes"));
}

TEST(Refit, FlagsExcludeEachOther) {
  ModelClient client(modelOf(1), {BuilderFlag::kREFIT, BuilderFlag::kREFIT_IDENTICAL});
  EXPECT_EQ(client.build(), nullptr);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("exclude each other"));
}

}  // namespace
}  // namespace camshaft::api
