// Networks as they are listed and edited, parsed ones above all.
#include <gmock/gmock.h>

#include "NvOnnxParser.h"
#include "api/test_client.h"
#include "testing/onnx_message.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using onnx::Message;
using testing::ElementsAre;

Message valueInfo(const std::string& name, const std::vector<Message>& dims) {
  Message shape;
  for (const Message& dim : dims) shape.message(1, dim);
  Message tensor;
  tensor.varint(1, 1).message(2, shape);
  return Message().bytes(1, name).message(2, Message().message(1, tensor));
}
Message size(int64_t value) { return Message().varint(1, value); }
Message symbol(const std::string& name) { return Message().bytes(2, name); }

Message node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
             const std::string& output) {
  Message message;
  for (const std::string& input : inputs) message.bytes(1, input);
  return message.bytes(2, output).bytes(3, name).bytes(4, op);
}

Message tensor(const std::string& name, const std::vector<int64_t>& dims,
               const std::vector<float>& values) {
  return Message().packed(1, dims).varint(2, 1).packed(4, values).bytes(8, name);
}

// y = Relu(Conv(x, w)) * x, for x [batch, 1, 2, 2] and a kernel of one element.
std::string smallModel() {
  Message graph;
  graph.message(1, node("Conv", "conv", {"x", "w"}, "c"));
  graph.message(1, node("Relu", "relu", {"c"}, "r"));
  graph.message(1, node("Mul", "mul", {"r", "x"}, "y"));
  graph.bytes(2, "small");
  graph.message(5, tensor("w", {1, 1, 1, 1}, {2}));
  graph.message(11, valueInfo("x", {symbol("batch"), size(1), size(2), size(2)}));
  graph.message(12, valueInfo("y", {symbol("batch"), size(1), size(2), size(2)}));
  Message model;
  model.varint(1, 8).message(7, graph).message(8, Message().varint(2, 17));
  return model.encoded();
}

struct ParsedClient : Client {
  std::unique_ptr<nvonnxparser::IParser> parser{nvonnxparser::createParser(*network, logger)};
  ParsedClient() {
    const std::string model = smallModel();
    EXPECT_TRUE(parser->parse(model.data(), model.size()))
        << (logger.errors.empty() ? "" : logger.errors.back());
  }
  ILayer* named(const std::string& name) {
    for (int32_t i = 0; i < network->getNbLayers(); ++i)
      if (network->getLayer(i)->getName() == name) return network->getLayer(i);
    return nullptr;
  }
};

TEST(ParsedNetwork, IsListedAsLayers) {
  ParsedClient client;
  ASSERT_EQ(client.network->getNbLayers(), 3);
  EXPECT_EQ(client.network->getLayer(0)->getType(), LayerType::kCONVOLUTION);
  EXPECT_EQ(client.network->getLayer(1)->getType(), LayerType::kACTIVATION);
  EXPECT_EQ(client.network->getLayer(2)->getType(), LayerType::kELEMENTWISE);
  EXPECT_EQ(client.network->getLayer(3), nullptr);
  auto* conv = static_cast<IConvolutionLayer*>(client.network->getLayer(0));
  EXPECT_STREQ(conv->getName(), "conv");
  EXPECT_EQ(conv->getNbInputs(), 1);  // its kernel is weights
  EXPECT_EQ(conv->getNbOutputMaps(), 1);
  EXPECT_EQ(static_cast<const float*>(conv->getKernelWeights().values)[0], 2);
  EXPECT_THAT(listOf(conv->getKernelSizeNd()), ElementsAre(1, 1));
  auto* relu = static_cast<IActivationLayer*>(client.network->getLayer(1));
  EXPECT_EQ(relu->getActivationType(), ActivationType::kRELU);
  EXPECT_EQ(relu->getInput(0), conv->getOutput(0));
  EXPECT_EQ(relu->getInput(1), nullptr);
  EXPECT_EQ(client.network->getLayer(1), relu) << "layers stay the same objects";
  ITensor* x = client.network->getInput(0);
  EXPECT_THAT(listOf(x->getDimensions()), ElementsAre(-1, 1, 2, 2));
  EXPECT_STREQ(x->getDimensionName(0), "batch");
  EXPECT_EQ(x->getDimensionName(1), nullptr);
  EXPECT_EQ(client.network->getOutput(0), client.network->getLayer(2)->getOutput(0));
}

TEST(ParsedNetwork, RunsAsEdited) {
  ParsedClient client;
  static_cast<IActivationLayer*>(client.named("relu"))
      ->setActivationType(ActivationType::kLEAKY_RELU);
  static_cast<IActivationLayer*>(client.named("relu"))->setAlpha(10);
  static_cast<IElementWiseLayer*>(client.named("mul"))->setOperation(ElementWiseOperation::kSUM);
  ITensor* between = client.named("conv")->getOutput(0);
  client.network->markOutput(*between);
  EXPECT_TRUE(between->isNetworkOutput());
  const std::vector<float> data{1, -1, 2, 3};
  const std::vector<Feed> feeds{{"x", Dims4(1, 1, 2, 2), data.data()}};
  EXPECT_THAT(client.run(feeds), ElementsAre(3, -21, 6, 9));
  EXPECT_THAT(client.run(feeds, "c"), ElementsAre(2, -2, 4, 6));
  client.network->unmarkOutput(*between);
  EXPECT_EQ(client.network->getNbOutputs(), 1);
  EXPECT_TRUE(client.logger.errors.empty());
}

TEST(ParsedNetwork, InputOfALayerCanBeReplaced) {
  ParsedClient client;
  ITensor* x = client.network->getInput(0);
  auto* negative =
      client.network->addUnary(*x, UnaryOperation::kNEG);  // added last, read by the first
  client.named("conv")->setInput(0, *negative->getOutput(0));
  EXPECT_EQ(client.network->getLayer(0), negative);
  client.named("conv")->setInput(0, *client.named("mul")->getOutput(0));
  EXPECT_TRUE(client.reported("computed from its own output"));
  const std::vector<float> data{1, -1, 2, -3};
  EXPECT_THAT(client.run({{"x", Dims4(1, 1, 2, 2), data.data()}}), ElementsAre(0, -2, 0, -18));
}

TEST(ParsedNetwork, DimensionsOfInputsCanChange) {
  ParsedClient client;
  ITensor* x = client.network->getInput(0);
  x->setDimensions(Dims4(3, 1, 4, 4));
  EXPECT_TRUE(client.logger.errors.empty()) << client.logger.errors.back();
  EXPECT_THAT(listOf(client.network->getOutput(0)->getDimensions()), ElementsAre(3, 1, 4, 4));
  x->setDimensions(Dims4(3, 2, 4, 4));
  EXPECT_TRUE(client.reported("conv"));
  EXPECT_THAT(listOf(x->getDimensions()), ElementsAre(3, 1, 4, 4)) << "a conflict changes nothing";
  EXPECT_THAT(listOf(client.network->getOutput(0)->getDimensions()), ElementsAre(3, 1, 4, 4));
  x->setDimensions(Dims4(3, 1, -1, 4));
  EXPECT_THAT(listOf(client.network->getOutput(0)->getDimensions()), ElementsAre(3, 1, -1, 4));
  x->setDimensionName(2, "height");
  EXPECT_STREQ(x->getDimensionName(2), "height");
  client.named("conv")->getOutput(0)->setDimensions(Dims2(1, 1));
  EXPECT_TRUE(client.reported("no input"));
}

// y = Reshape(x, [1, 4]) + b for x [1, 2, 2]: exported for one image.
std::string fixedBatchModel(const std::vector<int64_t>& biasDims) {
  Message graph;
  graph.message(1, node("Flatten", "flatten", {"x"}, "f"));
  graph.message(1, node("Concat", "concat", {"f", "b"}, "y")
                       .message(5, Message().bytes(1, "axis").varint(3, 1).varint(20, 2)));
  graph.bytes(2, "fixed");
  graph.message(5, tensor("b", biasDims, std::vector<float>(biasDims[0] * biasDims[1], 1)));
  graph.message(11, valueInfo("x", {size(1), size(2), size(2)}));
  graph.message(12, valueInfo("y", {size(1), size(4 + biasDims[1])}));
  return Message().varint(1, 8).message(7, graph).message(8, Message().varint(2, 17)).encoded();
}

TEST(ParsedNetwork, AFixedBatchCanBeOpenedOrIsRefused) {
  const auto parse = [](Client& client, const std::string& model) {
    std::unique_ptr<nvonnxparser::IParser> parser(
        nvonnxparser::createParser(*client.network, client.logger));
    ASSERT_TRUE(parser->parse(model.data(), model.size())) << client.logger.errors.back();
  };
  Client stuck;  // what is appended is one row, whatever the batch
  parse(stuck, fixedBatchModel({1, 2}));
  stuck.network->getInput(0)->setDimensions(Dims3(-1, 2, 2));
  EXPECT_TRUE(stuck.reported("cannot be left to run time"));
  EXPECT_THAT(listOf(stuck.network->getInput(0)->getDimensions()), ElementsAre(1, 2, 2));

  Client client;
  parse(client, fixedBatchModel({1, 2}));
  client.network->unmarkOutput(*client.network->getOutput(0));
  ITensor* flat = client.network->getLayer(0)->getOutput(0);
  client.network->removeTensor(*client.network->getLayer(1)->getOutput(0));
  client.output(flat, "y");
  client.network->getInput(0)->setDimensions(Dims3(-1, 2, 2));
  EXPECT_TRUE(client.logger.errors.empty()) << client.logger.errors.back();
  EXPECT_THAT(listOf(flat->getDimensions()), ElementsAre(-1, 4));
  const std::vector<float> data = iota(12);
  EXPECT_EQ(client.run({{"x", Dims3(3, 2, 2), data.data()}}), data);
}

TEST(ParsedNetwork, OperatorsWithoutALayerClassNameThemselves) {
  Client client;
  const std::vector<float> data = iota(4);
  Message graph;
  graph.message(1, node("HardSwish", "swish", {"x"}, "y")).bytes(2, "g");
  graph.message(11, valueInfo("x", {size(4)})).message(12, valueInfo("y", {size(4)}));
  Message model;
  model.varint(1, 8).message(7, graph).message(8, Message().varint(2, 17));
  std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*client.network, client.logger));
  ASSERT_TRUE(parser->parse(model.encoded().data(), model.encoded().size()));
  ASSERT_EQ(client.network->getNbLayers(), 1);
  ILayer* layer = client.network->getLayer(0);
  EXPECT_EQ(layer->getType(), LayerType::kCAMSHAFT_OPERATOR);
  EXPECT_STREQ(layer->getMetadata(), "[ONNX Layer: swish | Operator: Pointwise]");
  ITensor* doubled = client.network
                         ->addElementWise(*client.network->getInput(0),
                                          *client.network->getInput(0), ElementWiseOperation::kSUM)
                         ->getOutput(0);
  layer->setInput(0, *doubled);
  EXPECT_THAT(client.run({{"x", {1, {4}}, data.data()}}),
              ElementsAre(0, testing::FloatEq(2 * 5.f / 6), 4, 6));
}

TEST(ParsedNetwork, ModelErrorsAreCollected) {
  Client client;
  std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*client.network, client.logger));
  EXPECT_FALSE(parser->parse("nonsense", 8));
  ASSERT_GE(parser->getNbErrors(), 1);
  EXPECT_STRNE(parser->getError(0)->desc(), "");
  EXPECT_EQ(parser->getError(99), nullptr);
  EXPECT_TRUE(parser->supportsOperator("Conv"));
  EXPECT_FALSE(parser->supportsOperator("NoSuchOperator"));
}

TEST(Network, AnEditReachesWhatFollows) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 8, 8));
  const std::vector<float> kernel(9, 1.f);
  auto* conv =
      client.network->addConvolutionNd(*x, 1, DimsHW(3, 3), weightsOf(kernel), noWeights());
  auto* relu = client.network->addActivation(*conv->getOutput(0), ActivationType::kRELU);
  auto* flat = client.network->addShuffle(*relu->getOutput(0));
  flat->setReshapeDimensions(Dims2(1, -1));
  ITensor* tensor = flat->getOutput(0);
  EXPECT_THAT(listOf(tensor->getDimensions()), ElementsAre(1, 36));
  conv->setStrideNd(DimsHW(2, 2));
  EXPECT_THAT(listOf(tensor->getDimensions()), ElementsAre(1, 9));
  x->setDimensions(Dims4(1, 1, 16, 8));
  EXPECT_THAT(listOf(tensor->getDimensions()), ElementsAre(1, 21));
  EXPECT_EQ(tensor, flat->getOutput(0));
  // A change that does not fit downstream is refused as a whole.
  ITensor* twentyOne = client.input("t", Dims2(1, 21));
  client.network->addElementWise(*tensor, *twentyOne, ElementWiseOperation::kSUM);
  conv->setStrideNd(DimsHW(1, 1));
  EXPECT_TRUE(client.reported("do not broadcast"));
  EXPECT_THAT(listOf(conv->getStrideNd()), ElementsAre(2, 2));
  EXPECT_THAT(listOf(tensor->getDimensions()), ElementsAre(1, 21));
}

TEST(Network, TensorsCanBeRemoved) {
  Client client;
  ITensor* x = client.input("x", {1, {2}});
  auto* a = client.network->addUnary(*x, UnaryOperation::kABS);
  auto* b = client.network->addUnary(*a->getOutput(0), UnaryOperation::kNEG);
  client.network->removeTensor(*a->getOutput(0));
  EXPECT_TRUE(client.reported("still read"));
  client.network->removeTensor(*b->getOutput(0));
  EXPECT_EQ(client.network->getNbLayers(), 1);
  client.network->removeTensor(*a->getOutput(0));
  client.network->removeTensor(*x);
  EXPECT_EQ(client.network->getNbInputs(), 0);
  EXPECT_TRUE(client.logger.errors.empty());
}

TEST(NetworkErrors, AreReportedAndChangeNothing) {
  Client client;
  auto& network = *client.network;
  ITensor* x = client.input("x", Dims4(1, 2, 4, 4));
  EXPECT_FALSE(client.input("x", Dims2(1, 1)));
  EXPECT_TRUE(client.reported("already has a tensor named 'x'"));
  EXPECT_FALSE(client.input("z", Dims2(1, -2)));
  EXPECT_TRUE(client.reported("-2"));
  EXPECT_FALSE(network.addInput(nullptr, DataType::kFLOAT, Dims2(1, 1)));
  EXPECT_TRUE(client.reported("name"));
  const std::vector<float> five(5, 1.f);
  EXPECT_FALSE(network.addConvolutionNd(*x, 1, DimsHW(3, 3), weightsOf(five), noWeights()));
  EXPECT_TRUE(client.reported("18 kernel weights"));
  EXPECT_FALSE(network.addPoolingNd(*x, PoolingType::kMAX, Dims3(2, 2, 2)));
  EXPECT_TRUE(client.reported("rank 5"));
  EXPECT_FALSE(network.addPoolingNd(*x, PoolingType::kMAX_AVERAGE_BLEND, DimsHW(2, 2)));
  EXPECT_TRUE(client.reported("blend"));
  EXPECT_FALSE(network.addActivation(*x, static_cast<ActivationType>(77)));
  EXPECT_TRUE(client.reported("77"));
  EXPECT_FALSE(network.addUnary(*x, UnaryOperation::kNOT));
  EXPECT_TRUE(client.reported("unary_0"));
  ITensor* whole = network.addCast(*x, DataType::kINT32)->getOutput(0);
  EXPECT_FALSE(network.addElementWise(*x, *whole, ElementWiseOperation::kSUM));
  EXPECT_TRUE(client.reported("cast one of them"));
  EXPECT_FALSE(network.addReduce(*x, ReduceOperation::kSUM, 1u << 7, false));
  EXPECT_TRUE(client.reported("axis 7"));
  EXPECT_FALSE(network.addReduce(*x, ReduceOperation::kNONE, 1u, false));
  EXPECT_TRUE(client.reported("reduce"));
  EXPECT_FALSE(network.addTopK(*x, TopKOperation::kMAX, 9, 1u << 1));
  EXPECT_TRUE(client.reported("best 9 of 2"));
  EXPECT_FALSE(network.addConstant(Dims2(2, 2), weightsOf(five)));
  EXPECT_TRUE(client.reported("5"));
  EXPECT_FALSE(network.addGather(*x, *x, 0));
  EXPECT_TRUE(client.reported("gather"));
  EXPECT_FALSE(network.addConcatenation(nullptr, 0));
  EXPECT_TRUE(client.reported("null input"));
  ITensor* operands[] = {x};
  EXPECT_FALSE(network.addEinsum(operands, 1, "...i->i"));
  EXPECT_TRUE(client.reported("ellipsis"));
  EXPECT_FALSE(
      network.addMatrixMultiply(*x, MatrixOperation::kNONE, *whole, MatrixOperation::kNONE));
  EXPECT_TRUE(client.reported("matrix_multiply"));

  auto* softmax = network.addSoftMax(*x);
  softmax->setAxes(3);
  EXPECT_TRUE(client.reported("one axis"));
  EXPECT_EQ(softmax->getAxes(), 2u);
  softmax->setInput(1, *x);
  EXPECT_TRUE(client.reported("no input 1"));
  auto* shuffle = network.addShuffle(*x);
  shuffle->setReshapeDimensions(Dims2(5, -1));
  EXPECT_TRUE(client.reported("shuffle"));
  shuffle->setFirstTranspose({{0, 0, 1, 2}});
  EXPECT_TRUE(client.reported("no order"));
  EXPECT_THAT(listOf(shuffle->getOutput(0)->getDimensions()), ElementsAre(1, 2, 4, 4));
  softmax->getOutput(0)->setName("x");
  EXPECT_TRUE(client.reported("cannot be named 'x'"));
  network.unmarkOutput(*x);
  EXPECT_TRUE(client.reported("no output"));

  Client other;
  EXPECT_FALSE(other.network->addUnary(*x, UnaryOperation::kABS));
  EXPECT_TRUE(other.reported("another network"));
  EXPECT_FALSE(client.build());
  EXPECT_FALSE(client.logger.errors.empty()) << "a network without outputs";
}

}  // namespace
}  // namespace camshaft::api
