// TensorRT's standard plugins from the registry: they become operators of ours.
#include <gmock/gmock.h>

#include "NvInferPlugin.h"
#include "NvOnnxParser.h"
#include "api/test_client.h"
#include "onnx/standard_plugins.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// They stay registered: a namespace of its own keeps them from other tests.
constexpr char kSpace[] = "standard_test";

class StandardPlugins : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(initLibNvInferPlugins(&client_.logger, kSpace)); }

  static IPluginCreator* creator(const char* name, const char* version = "1") {
    return getPluginRegistry()->getPluginCreator(name, version, kSpace);
  }
  struct Destroy {
    void operator()(IPluginV2* plugin) const { plugin->destroy(); }
  };
  using PluginPtr = std::unique_ptr<IPluginV2, Destroy>;
  static PluginPtr make(const char* name, const std::vector<PluginField>& fields) {
    const PluginFieldCollection all{static_cast<int32_t>(fields.size()), fields.data()};
    return PluginPtr(creator(name)->createPlugin("plugin", &all));
  }
  template <class T>
  static PluginField field(const char* name, const T& value) {
    const bool isReal = std::is_same_v<T, float>;
    return {name, &value, isReal ? PluginFieldType::kFLOAT32 : PluginFieldType::kINT32, 1};
  }

  Client client_;
};

TEST_F(StandardPlugins, AreListedOnce) {
  const auto list = [] {
    int32_t count = 0;
    IPluginCreatorInterface* const* all = getPluginRegistry()->getAllCreators(&count);
    return std::vector<IPluginCreatorInterface*>(all, all + count);
  };
  const auto before = list();
  EXPECT_TRUE(initLibNvInferPlugins(nullptr, kSpace));
  EXPECT_EQ(list(), before);
  EXPECT_TRUE(client_.logger.errors.empty());
  IPluginCreator* nms = creator("EfficientNMS_TRT");
  ASSERT_TRUE(nms);
  EXPECT_THAT(before, Contains(nms));
  EXPECT_STREQ(nms->getPluginNamespace(), kSpace);
  EXPECT_EQ(nms->getFieldNames()->nbFields, 7);
  EXPECT_STREQ(nms->getFieldNames()->fields[0].name, "score_threshold");
  EXPECT_EQ(nms->getFieldNames()->fields[0].type, PluginFieldType::kFLOAT32);
  // Of version 3 by another class.
  EXPECT_FALSE(creator("InstanceNormalization_TRT", "3"));
  EXPECT_TRUE(getPluginRegistry()->getCreator("InstanceNormalization_TRT", "3", kSpace));
  EXPECT_FALSE(creator("EfficientNMS_TRT", "9"));
}

TEST_F(StandardPlugins, RunAsOperators) {
  const float iou = 0.5F, score = 0.1F;
  const int32_t most = 3;
  const PluginPtr plugin =
      make("EfficientNMS_TRT", {field("iou_threshold", iou), field("score_threshold", score),
                                field("max_output_boxes", most)});
  ASSERT_TRUE(plugin);
  EXPECT_STREQ(plugin->getPluginType(), "EfficientNMS_TRT");
  EXPECT_STREQ(plugin->getPluginVersion(), "1");
  EXPECT_EQ(plugin->getNbOutputs(), 4);
  ITensor* inputs[] = {client_.input("boxes", Dims3(1, 3, 4)),
                       client_.input("scores", Dims3(1, 3, 1))};
  IPluginV2Layer* layer = client_.network->addPluginV2(inputs, 2, *plugin);
  ASSERT_TRUE(layer) << client_.logger.errors.back();
  EXPECT_EQ(layer->getType(), LayerType::kPLUGIN_V2);
  EXPECT_STREQ(layer->getPlugin().getPluginType(), "EfficientNMS_TRT");
  EXPECT_THAT(listOf(layer->getOutput(1)->getDimensions()), ElementsAre(1, 3, 4));
  EXPECT_EQ(layer->getOutput(3)->getType(), nvinfer1::DataType::kINT32);
  client_.output(layer->getOutput(0), "counts");
  client_.output(layer->getOutput(2), "y");
  const std::vector<float> boxes{0, 0, 1, 1, 0, 0, 1, 0.9F, 2, 2, 3, 3}, scores{0.5, 0.75, 0.25};
  const auto engine = client_.build();
  ASSERT_TRUE(engine) << client_.logger.errors.back();
  const std::vector<Feed> feeds{{"boxes", Dims3(1, 3, 4), boxes.data()},
                                {"scores", Dims3(1, 3, 1), scores.data()}};
  EXPECT_THAT(client_.runEngine(*engine, feeds), ElementsAre(0.75, 0.25, 0));
  EXPECT_THAT(client_.runEngine<int32_t>(*engine, feeds, "counts"), ElementsAre(2));
}

TEST_F(StandardPlugins, OfVersion3RunAsOperators) {
  auto* creator = static_cast<IPluginCreatorV3One*>(
      getPluginRegistry()->getCreator("InstanceNormalization_TRT", "3", kSpace));
  const std::vector<float> scale{1, 2}, bias{0, 1};
  const float epsilon = 0;
  const PluginField fields[] = {{"epsilon", &epsilon, PluginFieldType::kFLOAT32, 1},
                                {"scales", scale.data(), PluginFieldType::kFLOAT32, 2},
                                {"bias", bias.data(), PluginFieldType::kFLOAT32, 2}};
  const PluginFieldCollection all{3, fields};
  const std::unique_ptr<IPluginV3> plugin(
      creator->createPlugin("norm", &all, TensorRTPhase::kBUILD));
  ASSERT_TRUE(plugin);
  ITensor* x = client_.input("x", Dims3(1, 2, 2));
  IPluginV3Layer* layer = client_.network->addPluginV3(&x, 1, nullptr, 0, *plugin);
  ASSERT_TRUE(layer) << client_.logger.errors.back();
  client_.output(layer->getOutput(0), "y");
  const std::vector<float> data{1, 3, 5, 9};
  EXPECT_THAT(client_.run({{"x", Dims3(1, 2, 2), data.data()}}), ElementsAre(-1, 1, -1, 3));
}

TEST_F(StandardPlugins, FollowTheirInputs) {
  const int32_t stride = 2;
  const PluginPtr plugin = make("Reorg_TRT", {field("stride", stride)});
  ITensor *x = client_.input("x", Dims4(1, 4, 2, 2)), *wide = client_.input("w", Dims4(1, 4, 2, 4));
  IPluginV2Layer* layer = client_.network->addPluginV2(&x, 1, *plugin);
  ASSERT_TRUE(layer);
  ITensor* last =
      client_.network->addActivation(*layer->getOutput(0), ActivationType::kRELU)->getOutput(0);
  EXPECT_THAT(listOf(last->getDimensions()), ElementsAre(1, 16, 1, 1));
  layer->setInput(0, *wide);
  EXPECT_THAT(listOf(last->getDimensions()), ElementsAre(1, 16, 1, 2));
  // What does not fit leaves all as it was.
  ITensor* odd = client_.input("o", Dims4(1, 3, 2, 2));
  layer->setInput(0, *odd);
  EXPECT_THAT(client_.logger.errors.back(), HasSubstr("strides of 2"));
  EXPECT_THAT(listOf(last->getDimensions()), ElementsAre(1, 16, 1, 2));
}

TEST_F(StandardPlugins, TellShapesAndAreStored) {
  const int32_t stride = 2;
  PluginPtr plugin = make("Reorg_TRT", {field("stride", stride)});
  std::vector<char> bytes(plugin->getSerializationSize());
  plugin->serialize(bytes.data());
  plugin.reset(creator("Reorg_TRT")->deserializePlugin("again", bytes.data(), bytes.size()));
  ASSERT_TRUE(plugin);
  EXPECT_FALSE(creator("Reorg_TRT")->deserializePlugin("cut", bytes.data(), bytes.size() - 1));
  ITensor* x = client_.input("x", Dims4(-1, 4, 2, 2));
  IPluginV2Layer* layer = client_.network->addPluginV2(&x, 1, *plugin);
  ASSERT_TRUE(layer);
  EXPECT_THAT(listOf(layer->getOutput(0)->getDimensions()), ElementsAre(-1, 16, 1, 1));
}

// As many outputs as a field says, from no input.
TEST_F(StandardPlugins, CountTheirOutputs) {
  const std::vector<float> ratios{1, 2, 0.5F}, variance{0.1F, 0.1F, 0.2F, 0.2F};
  const std::vector<int32_t> maps{2, 1};
  const int32_t layers = 2;
  const PluginField fields[] = {{"aspectRatios", ratios.data(), PluginFieldType::kFLOAT32, 3},
                                {"variance", variance.data(), PluginFieldType::kFLOAT32, 4},
                                {"featureMapShapes", maps.data(), PluginFieldType::kINT32, 2},
                                field("numLayers", layers)};
  const PluginPtr plugin = make("GridAnchor_TRT", {std::begin(fields), std::end(fields)});
  ASSERT_TRUE(plugin);
  EXPECT_EQ(plugin->getNbOutputs(), 2);
  IPluginV2Layer* layer = client_.network->addPluginV2(nullptr, 0, *plugin);
  ASSERT_TRUE(layer) << client_.logger.errors.back();
  EXPECT_EQ(layer->getNbOutputs(), 2);
  EXPECT_THAT(listOf(layer->getOutput(1)->getDimensions()), ElementsAre(1, 2, 16, 1));
  EXPECT_EQ(layer->getOutput(0)->getType(), nvinfer1::DataType::kFLOAT);
  EXPECT_FALSE(make("GridAnchor_TRT", {}));
}

TEST_F(StandardPlugins, RefuseWhatDoesNotFit) {
  ITensor* x = client_.input("x", Dims4(1, 4, 2, 2));
  const float stride = 2.5F;
  EXPECT_FALSE(client_.network->addPluginV2(&x, 1, *make("Reorg_TRT", {field("stride", stride)})));
  EXPECT_TRUE(client_.reported("(Reorg_TRT): its field 'stride' must hold whole numbers"));
  EXPECT_FALSE(client_.network->addPluginV2(&x, 1, *make("EfficientNMS_TRT", {})));
  EXPECT_TRUE(client_.reported("(EfficientNMS_TRT): it lacks its required input 1"));
  EXPECT_EQ(client_.network->getNbLayers(), 0);
}

// Each is made by creators of every version that it lists, and models know it by its name.
TEST_F(StandardPlugins, HaveCreatorsAndOperators) {
  const std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*client_.network, client_.logger));
  for (const onnx::StandardPlugin& plugin : onnx::standardPlugins()) {
    const std::string name(plugin.name);
    EXPECT_TRUE(parser->supportsOperator(name.c_str())) << name;
    for (const std::string& version : plugin.versions)
      EXPECT_TRUE(creator(name.c_str(), version.c_str())) << name;
    for (const std::string& version : plugin.versionsV3)
      EXPECT_TRUE(getPluginRegistry()->getCreator(name.c_str(), version.c_str(), kSpace)) << name;
  }
}

}  // namespace
}  // namespace camshaft::api
