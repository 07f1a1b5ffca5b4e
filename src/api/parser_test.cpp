#include "NvOnnxParser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/test_client.h"
#include "testing/onnx_model.h"

namespace camshaft::api {
namespace {

using nvonnxparser::ErrorCode;
using nvonnxparser::IParser;
using nvonnxparser::IParserError;
using onnx::TestModel;
using testing::ElementsAre;
using testing::HasSubstr;

class ParserTest : public testing::Test {
 protected:
  bool parse(const std::string& bytes) { return parser_->parse(bytes.data(), bytes.size()); }
  bool supports(const std::string& bytes) {
    return parser_->supportsModelV2(bytes.data(), bytes.size());
  }
  std::vector<int64_t> subgraph(int64_t index) {
    int64_t length = -1;
    const int64_t* nodes = parser_->getSubgraphNodes(index, length);
    return {nodes, nodes + length};
  }

  Client client_;
  std::unique_ptr<IParser> parser_{nvonnxparser::createParser(*client_.network, client_.logger)};
};

TEST_F(ParserTest, GivesTheTensorsOfNodes) {
  ASSERT_TRUE(parse(TestModel()
                        .input("x", {2})
                        .node({"Exp", {"x"}, {"h"}, {}, "first"})
                        .node({"Neg", {"h"}, {"y"}})
                        .output("y")
                        .bytes()));
  const nvinfer1::ITensor* hidden = parser_->getLayerOutputTensor("first", 0);
  ASSERT_NE(hidden, nullptr);
  EXPECT_STREQ(hidden->getName(), "h");
  EXPECT_EQ(parser_->getLayerOutputTensor("Neg_y", 0), client_.network->getOutput(0));
  EXPECT_EQ(parser_->getLayerOutputTensor("first", 1), nullptr);
  EXPECT_EQ(parser_->getLayerOutputTensor("other", 0), nullptr);
  EXPECT_EQ(parser_->getLayerOutputTensor(nullptr, 0), nullptr);
}

TEST_F(ParserTest, NodesThatChangeNothingAreLayers) {
  ASSERT_TRUE(parse(TestModel()
                        .input("x", {2, 3})
                        .node({"Identity", {"x"}, {"h"}, {}, "first"})
                        .node({"Dropout", {"h"}, {"g"}, {}, "second"})
                        .node({"Identity", {"g"}, {"y"}, {}, "third"})
                        .output("y")
                        .bytes()));
  nvinfer1::INetworkDefinition& network = *client_.network;
  ASSERT_EQ(network.getNbLayers(), 3);
  EXPECT_EQ(network.getLayer(1)->getType(), nvinfer1::LayerType::kIDENTITY);
  EXPECT_STREQ(network.getLayer(1)->getName(), "second");
  EXPECT_STREQ(network.getLayer(1)->getMetadata(), "[ONNX Layer: second]");
  EXPECT_STREQ(network.getLayer(1)->getOutput(0)->getName(), "g");
  EXPECT_NE(network.getInput(0), network.getOutput(0));
  network.markOutput(*network.getLayer(0)->getOutput(0));
  const std::vector<float> data{1, 2, 3, 4, 5, 6};
  const std::vector<Feed> feeds{{"x", nvinfer1::Dims2(2, 3), data.data()}};
  EXPECT_EQ(client_.run(feeds, "h"), data);
  EXPECT_EQ(client_.run(feeds, "y"), data);
}

TEST_F(ParserTest, ListsSubgraphsAndLeavesTheNetworkAlone) {
  TestModel model;
  model.input("x", {2})
      .node({"Exp", {"x"}, {"a"}})
      .node({"Mystery", {"a"}, {"b"}, {}, "odd"})
      .node({"Neg", {"b"}, {"y"}})
      .output("y");
  EXPECT_EQ(parser_->getNbSubgraphs(), 0);
  EXPECT_FALSE(supports(model.bytes()));
  ASSERT_EQ(parser_->getNbErrors(), 1);
  ASSERT_EQ(parser_->getNbSubgraphs(), 2);
  EXPECT_THAT(subgraph(0), ElementsAre(0));
  EXPECT_THAT(subgraph(1), ElementsAre(2));
  EXPECT_TRUE(parser_->isSubgraphSupported(0));
  EXPECT_FALSE(parser_->isSubgraphSupported(1));  // it was not tried
  EXPECT_FALSE(parser_->isSubgraphSupported(2));
  EXPECT_TRUE(subgraph(2).empty());

  SubGraphCollection_t collection;
  const std::string& bytes = model.bytes();
  EXPECT_FALSE(parser_->supportsModel(bytes.data(), bytes.size(), collection));
  ASSERT_EQ(collection.size(), 2u);
  EXPECT_EQ(collection[1], SubGraph_t({2}, false));
  EXPECT_EQ(parser_->getNbErrors(), 1);
  EXPECT_EQ(client_.network->getNbInputs(), 0);

  EXPECT_TRUE(
      supports(TestModel().input("x", {2}).node({"Exp", {"x"}, {"y"}}).output("y").bytes()));
  EXPECT_EQ(parser_->getNbSubgraphs(), 1);
}

TEST_F(ParserTest, ErrorsHaveEverythingAboutTheirNode) {
  TestModel model;
  model.function("Shell", {"a"}, {"b"}, {}, {{"Mystery", {"a"}, {"b"}, {}, "odd"}});
  model.input("x", {2})
      .node({"Exp", {"x"}, {"h"}})
      .node({"Shell", {"h"}, {"y"}, {}, "call", "local"})
      .output("y");
  EXPECT_FALSE(parse(model.bytes()));
  ASSERT_EQ(parser_->getNbErrors(), 1);
  const IParserError& error = *parser_->getError(0);
  EXPECT_EQ(error.code(), ErrorCode::kUNSUPPORTED_NODE);
  EXPECT_THAT(error.desc(), HasSubstr("node 'call/odd' (Mystery, opset 17)"));
  EXPECT_EQ(error.node(), 1);
  EXPECT_STREQ(error.nodeName(), "call/odd");
  EXPECT_STREQ(error.nodeOperator(), "Mystery");
  ASSERT_EQ(error.localFunctionStackSize(), 1);
  EXPECT_STREQ(error.localFunctionStack()[0], "Shell");
  EXPECT_EQ(parser_->getError(1), nullptr);
}

TEST_F(ParserTest, ErrorsOfTheCallAreListedToo) {
  EXPECT_FALSE(parser_->parse(nullptr, 0));
  ASSERT_EQ(parser_->getNbErrors(), 1);
  EXPECT_EQ(parser_->getError(0)->code(), ErrorCode::kINVALID_VALUE);
  EXPECT_FALSE(parse("no model"));
  ASSERT_EQ(parser_->getNbErrors(), 1);
  EXPECT_EQ(parser_->getError(0)->code(), ErrorCode::kMODEL_DESERIALIZE_FAILED);
  EXPECT_FALSE(parser_->parseFromFile("/nonexistent.onnx", 0));
  EXPECT_EQ(parser_->getError(0)->code(), ErrorCode::kMODEL_DESERIALIZE_FAILED);
  parser_->clearErrors();
  EXPECT_EQ(parser_->getNbErrors(), 0);
}

TEST_F(ParserTest, TakesInitializersFromTheCaller) {
  TestModel model;
  model.input("x", {2}).floats("w", {2}, {1, 1}).node({"Mul", {"x", "w"}, {"y"}}).output("y");
  const float given[] = {10, 20};
  EXPECT_FALSE(parser_->loadInitializer("w", given, sizeof given));
  EXPECT_FALSE(parser_->parseModelProto());
  EXPECT_THAT(parser_->getError(0)->desc(), HasSubstr("loadModelProto first"));
  const std::string& bytes = model.bytes();
  ASSERT_TRUE(parser_->loadModelProto(bytes.data(), bytes.size()));
  EXPECT_FALSE(parser_->loadInitializer("v", given, sizeof given));
  EXPECT_FALSE(parser_->loadInitializer("w", given, 4));
  EXPECT_THAT(parser_->getError(0)->desc(), HasSubstr("'w' needs 8 bytes and is given 4"));
  EXPECT_TRUE(parser_->loadInitializer("w", given, sizeof given));
  ASSERT_TRUE(parser_->parseModelProto());
  const float x[] = {1, 2};
  EXPECT_THAT(client_.run({{"x", {1, {2}}, x}}), ElementsAre(10, 40));
}

TEST_F(ParserTest, OldSpellingsAndFlags) {
  const std::string bytes =
      TestModel().input("x", {2}).node({"Exp", {"x"}, {"y"}}).output("y").bytes();
  EXPECT_TRUE(parser_->parseWithWeightDescriptors(bytes.data(), bytes.size()));
  EXPECT_FALSE(parse(bytes));
  EXPECT_THAT(parser_->getError(0)->desc(), HasSubstr("the network is not empty"));
  EXPECT_TRUE(parser_->supportsOperator("Conv"));
  EXPECT_TRUE(parser_->supportsOperator("FastGelu"));
  EXPECT_FALSE(parser_->supportsOperator("Mystery"));
  int64_t libraries = -1;
  parser_->getUsedVCPluginLibraries(libraries);
  EXPECT_EQ(libraries, 0);
  using nvonnxparser::OnnxParserFlag;
  EXPECT_TRUE(parser_->getFlag(OnnxParserFlag::kNATIVE_INSTANCENORM));
  parser_->setFlag(OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE);
  EXPECT_EQ(parser_->getFlags(), 9u);
  parser_->clearFlag(OnnxParserFlag::kNATIVE_INSTANCENORM);
  EXPECT_EQ(parser_->getFlags(), 8u);
}

}  // namespace
}  // namespace camshaft::api
