// Layers of language models added call by call, with numbers by hand. Python compares larger ones
// with numpy.
#include <gmock/gmock.h>

#include <cmath>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::FloatNear;
using testing::Pointwise;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

auto near(const Floats& expected) { return Pointwise(FloatNear(1e-5f), expected); }

struct Model : Client {
  ITensor* floats(const Dims& dims, const Floats& values) {
    return network->addConstant(dims, weightsOf(values))->getOutput(0);
  }
  ITensor* ints(const Dims& dims, const Ints& values) {
    return network->addConstant(dims, weightsOf(values, DataType::kINT32))->getOutput(0);
  }
};

// Two queries over three keys; a score is log 1 or log 3, so that softmax gives quarters.
struct Attending : Model {
  static constexpr float kLog3 = 1.0986123f;
  ITensor* q = input("q", {4, {1, 1, 2, 1}});
  IAttention* attention = network->addAttentionV2(
      *q, *floats({4, {1, 1, 3, 1}}, {0, kLog3, 0}), *floats({4, {1, 1, 3, 1}}, {8, 16, 80}),
      AttentionNormalizationOp::kSOFTMAX, CausalMaskKind::kNONE);
  Attending() { output(attention->getOutput(0), "y"); }
  Floats result() {
    const Floats queries = {1, 0};
    return run({{"q", {4, {1, 1, 2, 1}}, queries.data()}});
  }
};

TEST(AttentionLayers, WeighValuesByTheSoftmaxOfScores) {
  Attending client;
  ASSERT_NE(client.attention, nullptr);
  const float even = 104.0f / 3;
  EXPECT_THAT(client.result(), near({(8 + 48 + 80) / 5.0f, even}));
}

TEST(AttentionLayers, HideTheFutureFromEitherEnd) {
  Attending client;
  EXPECT_FALSE(client.attention->getCausal());
  EXPECT_TRUE(client.attention->setCausal(true));
  EXPECT_EQ(client.attention->getCausalKind(), CausalMaskKind::kUPPER_LEFT);
  EXPECT_THAT(client.result(), near({8, 12}));
  EXPECT_TRUE(client.attention->setCausalKind(CausalMaskKind::kLOWER_RIGHT));
  EXPECT_TRUE(client.attention->getCausal());
  EXPECT_THAT(client.result(), near({14, 104.0f / 3}));
}

TEST(AttentionLayers, HideKeysByMaskAndLength) {
  Attending client;
  const std::vector<uint8_t> seen = {1, 1, 0, 0, 1, 1};
  ITensor* mask = client.network->addConstant({4, {1, 1, 2, 3}}, weightsOf(seen, DataType::kBOOL))
                      ->getOutput(0);
  EXPECT_EQ(client.attention->getMask(), nullptr);
  EXPECT_TRUE(client.attention->setMask(*mask));
  EXPECT_EQ(client.attention->getMask(), mask);
  EXPECT_THAT(client.result(), near({14, 48}));
  ITensor* length = client.ints({1, {1}}, {2});
  EXPECT_TRUE(client.attention->setKeyValueLengths(length));
  EXPECT_EQ(client.attention->getKeyValueLengths(), length);
  EXPECT_THAT(client.result(), near({14, 16}));
  EXPECT_TRUE(client.attention->setKeyValueLengths(nullptr));
  EXPECT_EQ(client.attention->getKeyValueLengths(), nullptr);
  EXPECT_THAT(client.result(), near({14, 48}));
}

TEST(AttentionLayers, ComputeWithoutNormalisation) {
  Attending client;
  EXPECT_TRUE(client.attention->setNormalizationOperation(AttentionNormalizationOp::kNONE));
  EXPECT_EQ(client.attention->getNormalizationOperation(), AttentionNormalizationOp::kNONE);
  EXPECT_THAT(client.result(), near({16 * Attending::kLog3, 0}));
  client.attention->setMask(*client.floats({4, {1, 1, 1, 3}}, {1, 0, 0}));
  EXPECT_THAT(client.result(), near({8 + 16 * Attending::kLog3, 8}));
  client.attention->setCausal(true);
  EXPECT_THAT(client.result(), near({8, 8}));
}

TEST(AttentionLayers, LayersAndSettingsAreThere) {
  Attending client;
  IAttention& attention = *client.attention;
  EXPECT_EQ(attention.getNbInputs(), 3);
  EXPECT_EQ(attention.getNbOutputs(), 1);
  EXPECT_EQ(attention.getInput(0), client.q);
  EXPECT_EQ(attention.getInput(3), nullptr);
  EXPECT_TRUE(attention.setName("mix"));
  EXPECT_STREQ(attention.getName(), "mix");
  EXPECT_TRUE(attention.setMetadata("block 1"));
  EXPECT_STREQ(attention.getMetadata(), "block 1");
  EXPECT_TRUE(attention.setDecomposable(true));
  EXPECT_TRUE(attention.getDecomposable());
  EXPECT_TRUE(attention.setNbRanks(1));
  EXPECT_FALSE(attention.setInput(3, *client.q));
  EXPECT_TRUE(client.reported("layer 'mix' has no input"));
  auto* in = dynamic_cast<IAttentionInputLayer*>(client.network->getLayer(2));
  auto* out = dynamic_cast<IAttentionOutputLayer*>(client.network->getLayer(3));
  ASSERT_TRUE(in && out);
  EXPECT_EQ(in->getAttention(), client.attention);
  EXPECT_EQ(out->getAttention(), client.attention);
  EXPECT_STREQ(in->getName(), "mix");

  EXPECT_FALSE(attention.setNormalizationQuantizeScale(*client.q));
  EXPECT_TRUE(client.reported("quantised scores of attention are not available yet"));
  EXPECT_FALSE(attention.setQueryForm(AttentionIOForm::kPACKED_NHD));
  EXPECT_TRUE(client.reported("packed one after the other"));
  ITensor& flat = *client.input("flat", {2, {2, 2}});
  EXPECT_EQ(
      client.network->addAttention(flat, flat, flat, AttentionNormalizationOp::kSOFTMAX, false),
      nullptr);
  EXPECT_TRUE(client.reported("[batch, heads, length, size]"));
}

// One head of four elements at two positions; the angles are 0 and a quarter.
struct Rotating : Model {
  ITensor* x = input("x", {4, {1, 1, 2, 4}});
  const Floats values = {1, 2, 3, 4, 5, 6, 7, 8};
  Floats result() { return run({{"x", {4, {1, 1, 2, 4}}, values.data()}}); }
};

TEST(RotaryEmbeddingLayers, TurnPairs) {
  Rotating client;
  ITensor* cosines = client.floats({3, {1, 2, 2}}, {1, 1, 0, 1});
  ITensor* sines = client.floats({3, {1, 2, 2}}, {0, 0, 1, 0});
  IRotaryEmbeddingLayer* layer =
      client.network->addRotaryEmbedding(*client.x, *cosines, *sines, false, 0);
  ASSERT_NE(layer, nullptr);
  client.output(layer->getOutput(0), "y");
  EXPECT_THAT(client.result(), near({1, 2, 3, 4, -7, 6, 5, 8}));
  layer->setInterleaved(true);
  EXPECT_TRUE(layer->getInterleaved());
  EXPECT_THAT(client.result(), near({1, 2, 3, 4, -6, 5, 7, 8}));
  EXPECT_FALSE(layer->setRotaryEmbeddingDim(3));
  EXPECT_TRUE(client.reported("in pairs"));
  EXPECT_EQ(layer->getRotaryEmbeddingDim(), 0);
}

TEST(RotaryEmbeddingLayers, LookAnglesUpAndLeaveTheRest) {
  Rotating client;
  ITensor* cosines = client.floats({2, {3, 1}}, {1, 0, -1});
  ITensor* sines = client.floats({2, {3, 1}}, {0, 1, 0});
  IRotaryEmbeddingLayer* layer =
      client.network->addRotaryEmbedding(*client.x, *cosines, *sines, false, 2);
  ASSERT_NE(layer, nullptr);
  client.output(layer->getOutput(0), "y");
  EXPECT_EQ(client.build(), nullptr);
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("needs positions"));
  layer->setInput(3, *client.ints({2, {1, 2}}, {2, 1}));
  EXPECT_THAT(client.result(), near({-1, -2, 3, 4, -6, 5, 7, 8}));
}

TEST(KVCacheUpdateLayers, WriteFromEachBatchesIndexOn) {
  Model client;
  ITensor* cache = client.input("cache", {4, {2, 1, 4, 1}});
  ITensor* update = client.input("update", {4, {2, 1, 2, 1}});
  ITensor* begin = client.input("begin", {1, {2}}, DataType::kINT32);
  IKVCacheUpdateLayer* layer =
      client.network->addKVCacheUpdate(*cache, *update, *begin, KVCacheMode::kLINEAR);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getCacheMode(), KVCacheMode::kLINEAR);
  client.output(layer->getOutput(0), "y");
  const Floats old = iota(8), rows = {10, 20, 30, 40};
  const Ints from = {2, 0};
  EXPECT_EQ(client.run({{"cache", {4, {2, 1, 4, 1}}, old.data()},
                        {"update", {4, {2, 1, 2, 1}}, rows.data()},
                        {"begin", {1, {2}}, from.data()}}),
            Floats({0, 1, 10, 20, 30, 40, 6, 7}));
  const Ints late = {3, 0};  // the second row lies behind the end and is left out
  EXPECT_EQ(client.run({{"cache", {4, {2, 1, 4, 1}}, old.data()},
                        {"update", {4, {2, 1, 2, 1}}, rows.data()},
                        {"begin", {1, {2}}, late.data()}}),
            Floats({0, 1, 2, 10, 30, 40, 6, 7}));
  EXPECT_FALSE(layer->setUpdateForm(AttentionIOForm::kPACKED_NHD));
  EXPECT_TRUE(client.reported("packed one after the other"));
}

struct CacheClient : Model {
  CacheClient() {
    cache = input("cache", {4, {1, 1, 4, 1}});
    ITensor* update = input("update", {4, {1, 1, 1, 1}});
    ITensor* begin = input("begin", {1, {1}}, DataType::kINT32);
    updated =
        network->addKVCacheUpdate(*cache, *update, *begin, KVCacheMode::kLINEAR)->getOutput(0);
    output(updated, "updated");
  }
  // One row at a place, with the cache at one address and the result at another.
  void write(ICudaEngine& engine, float row, int32_t at, float* from, float* to) {
    const std::unique_ptr<IExecutionContext> context(engine.createExecutionContext());
    float other[4];
    for (int32_t i = 0; i < engine.getNbIOTensors(); ++i)
      context->setTensorAddress(engine.getIOTensorName(i), other);
    context->setTensorAddress("cache", from);
    context->setTensorAddress("update", &row);
    context->setTensorAddress("begin", &at);
    context->setTensorAddress("updated", to);
    ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.errors.back();
  }
  ITensor *cache, *updated;
};

TEST(KVCacheUpdateLayers, WriteInPlaceWhereAddressesAreOne) {
  CacheClient client;
  // What reads the cache as it is now, and what comes of it.
  client.output(client.network->addUnary(*client.updated, UnaryOperation::kNEG)->getOutput(0), "y");
  for (const bool isRefittable : {false, true}) {
    if (isRefittable) client.config->setFlag(BuilderFlag::kREFIT);
    const auto engine = client.build();
    ASSERT_TRUE(engine) << client.logger.errors.back();
    EXPECT_STREQ(engine->getAliasedInputTensor("updated"), "cache");
    EXPECT_EQ(engine->getAliasedInputTensor("y"), nullptr);
    EXPECT_EQ(engine->getAliasedInputTensor("cache"), nullptr);
    Floats one = {1, 2, 3, 4}, other(4);
    client.write(*engine, 10, 2, one.data(), other.data());
    EXPECT_EQ(one, Floats({1, 2, 3, 4}));
    EXPECT_EQ(other, Floats({1, 2, 10, 4}));
    client.write(*engine, 20, 0, one.data(), one.data());
    client.write(*engine, 30, 3, one.data(), one.data());
    EXPECT_EQ(one, Floats({20, 2, 3, 30}));
  }
  EXPECT_EQ(client.build()->getAliasedInputTensor("nothing"), nullptr);
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("'nothing' is no input or output"));
}

// The sum of the old cache and the new needs both.
TEST(KVCacheUpdateLayers, DoNotWriteOverWhatIsReadLater) {
  CacheClient client;
  client.output(
      client.network->addElementWise(*client.cache, *client.updated, ElementWiseOperation::kSUM)
          ->getOutput(0),
      "sum");
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  EXPECT_EQ(engine->getAliasedInputTensor("updated"), nullptr);
}

TEST(DistCollectiveLayers, AreTheIdentityOnOneRank) {
  Model client;
  ITensor* x = client.input("x", {1, {2}});
  int64_t groups[] = {0, 1};
  ILayer* layer = client.network->addDistCollective(*x, CollectiveOperation::kALL_REDUCE,
                                                    ReduceOperation::kSUM, -1, groups, 1);
  ASSERT_NE(layer, nullptr);
  layer = client.network->addDistCollective(*layer->getOutput(0), CollectiveOperation::kBROADCAST,
                                            ReduceOperation::kNONE, 0, nullptr, 0);
  ASSERT_NE(layer, nullptr);
  client.output(layer->getOutput(0), "y");
  const Floats values = {3, 4};
  EXPECT_EQ(client.run({{"x", {1, {2}}, values.data()}}), values);
  EXPECT_EQ(client.network->addDistCollective(*x, CollectiveOperation::kALL_REDUCE,
                                              ReduceOperation::kSUM, -1, groups, 2),
            nullptr);
  EXPECT_TRUE(client.reported("of 2 ranks cannot be added"));
  EXPECT_EQ(client.network->addDistCollective(*x, CollectiveOperation::kREDUCE,
                                              ReduceOperation::kSUM, 3, nullptr, 0),
            nullptr);
  EXPECT_TRUE(client.reported("names rank 3"));
}

// Experts of one number: gate, up and down are factors. Of two tokens, the first goes to experts 0
// and 2, the second to expert 1 alone.
TEST(MoELayers, SumTheSelectedExperts) {
  Model client;
  ITensor* x = client.input("x", {3, {1, 2, 1}});
  ITensor* experts = client.ints({3, {1, 2, 2}}, {0, 2, 1, 1});
  ITensor* scores = client.floats({3, {1, 2, 2}}, {0.5f, 0.25f, 1, 2});
  IMoELayer* layer = client.network->addMoE(*x, *experts, *scores);
  ASSERT_NE(layer, nullptr);
  client.output(layer->getOutput(0), "y");
  EXPECT_EQ(client.build(), nullptr);
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("needs the weights of its experts"));
  const auto three = [&](const Floats& values) { return client.floats({3, {3, 1, 1}}, values); };
  layer->setGatedWeights(*three({1, 2, 3}), *three({1, 1, 2}), *three({10, 100, 1000}),
                         MoEActType::kNONE);
  const Floats values = {1, 3};
  const auto result = [&] { return client.run({{"x", {3, {1, 2, 1}}, values.data()}}); };
  // 0.5 * 10 * (1 * 1) + 0.25 * 1000 * (3 * 2), and 3 * 100 * (6 * 3)
  EXPECT_THAT(result(), near({1505, 5400}));
  layer->setActivationType(MoEActType::kSILU);
  EXPECT_EQ(layer->getActivationType(), MoEActType::kSILU);
  const auto silu = [](float v) { return v / (1 + std::exp(-v)); };
  EXPECT_NEAR(result()[0], 5 * silu(1) + 250 * silu(3) * 2, 1e-2);
  layer->setActivationType(MoEActType::kNONE);
  const auto biases = [&](const Floats& values) { return client.floats({2, {3, 1}}, values); };
  layer->setGatedBiases(*biases({1, 0, 0}), *biases({0, 0, -1}), *biases({0, 1, 4}));
  // 0.5 * 10 * (2 * 1) + 0.25 * (1000 * (3 * 1) + 4), and 3 * (100 * (6 * 3) + 1)
  EXPECT_THAT(result(), near({761, 5403}));
  layer->setSwigluParams(2, 1, 1);
  EXPECT_EQ(layer->getSwigluParamLimit(), 2);
  // 5 * (2 * 2) + 0.25 * (1000 * (2 * 2) + 4), and 3 * (100 * (2 * 3) + 1)
  EXPECT_THAT(result(), near({1021, 1803}));
  client.logger.errors.clear();
  client.recorder.clear();
  layer->setQuantizationToType(DataType::kFP8);
  EXPECT_TRUE(client.reported("quantised experts are not available yet"));
}

}  // namespace
}  // namespace camshaft::api
