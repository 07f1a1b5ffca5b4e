// Reduced precision through the public API: flags, types set on layers and tensors.
#include <gmock/gmock.h>

#include "api/test_client.h"
#include "support/half.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::AnyOf;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

// y = relu(x W) for x [2, 2], W = [[1, -1], [2, 3]].
IMatrixMultiplyLayer* describe(Client& client) {
  static const std::vector<float> weights{1, -1, 2, 3};
  ITensor* x = client.input("x", Dims2(2, 2));
  ITensor* w = client.network->addConstant(Dims2(2, 2), weightsOf(weights))->getOutput(0);
  auto* product =
      client.network->addMatrixMultiply(*x, MatrixOperation::kNONE, *w, MatrixOperation::kNONE);
  product->setName("product");
  auto* relu = client.network->addActivation(*product->getOutput(0), ActivationType::kRELU);
  client.output(relu->getOutput(0), "y");
  return product;
}

template <class T>
Feed feedOf(const std::vector<T>& x) {
  return {"x", Dims2(2, 2), x.data()};
}

// kFLOAT and kHALF are compatible where types are not strict.
TEST(Precision, ElementsOfHalfAndFloatMeetInFloat) {
  Client client;
  ITensor* x = client.input("x", Dims2(1, 2), DataType::kHALF);
  const std::vector<float> third{1.0f / 3, 70000};
  ITensor* c = client.network->addConstant(Dims2(1, 2), weightsOf(third))->getOutput(0);
  auto* sum = client.network->addElementWise(*x, *c, ElementWiseOperation::kSUM);
  ASSERT_TRUE(sum) << client.logger.errors.back();
  EXPECT_EQ(sum->getOutput(0)->getType(), DataType::kFLOAT);
  client.output(sum->getOutput(0), "y");
  const std::vector<Half> data{Half(1.0f), Half(2.0f)};
  EXPECT_THAT(client.run({{"x", Dims2(1, 2), data.data()}}), ElementsAre(1 + third[0], 70002));
}

// The error that ended the last build.
std::string buildError(Client& client) {
  EXPECT_FALSE(client.build());
  const std::string error = client.logger.errors.empty() ? "" : client.logger.errors.back();
  client.logger.errors.clear();
  return error;
}

TEST(Precision, LayersRememberTheirTypes) {
  Client client;
  IMatrixMultiplyLayer* product = describe(client);
  EXPECT_FALSE(product->precisionIsSet());
  EXPECT_EQ(product->getPrecision(), DataType::kFLOAT);
  product->setPrecision(DataType::kHALF);
  EXPECT_TRUE(product->precisionIsSet());
  EXPECT_EQ(product->getPrecision(), DataType::kHALF);
  product->resetPrecision();
  EXPECT_FALSE(product->precisionIsSet());

  EXPECT_FALSE(product->outputTypeIsSet(0));
  product->setOutputType(0, DataType::kBF16);
  EXPECT_TRUE(product->outputTypeIsSet(0));
  EXPECT_EQ(product->getOutputType(0), DataType::kBF16);
  product->resetOutputType(0);
  EXPECT_EQ(product->getOutputType(0), DataType::kFLOAT);
  product->setOutputType(1, DataType::kHALF);
  EXPECT_TRUE(client.reported("layer 'product' has no output 1"));
}

TEST(Precision, ObeyedTypesRunOnTheCpu) {
  Client client;
  describe(client)->setPrecision(DataType::kHALF);
  client.config->setFlag(BuilderFlag::kFP16);
  client.config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  // 1.0001 is 1 in half precision.
  const std::vector<float> x{1.0001f, 0, 0, 1};
  EXPECT_THAT(client.run({feedOf(x)}), ElementsAre(1, 0, 2, 3));
}

TEST(Precision, PreferredTypesDoNotSlowTheCpuDown) {
  Client client;
  describe(client)->setPrecision(DataType::kHALF);
  client.config->setFlag(BuilderFlag::kFP16);
  client.config->setFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  const std::vector<float> x{1.0001f, 0, 0, 1};
  // Half precision is met by rounding to bf16 inside of products, or not at all.
  EXPECT_THAT(client.run({feedOf(x)}), ElementsAre(AnyOf(1, FloatNear(1.0001f, 1e-6f)), 0, 2, 3));
}

TEST(Precision, WhatCannotBeObeyedEndsTheBuild) {
  Client client;
  describe(client)->setPrecision(DataType::kHALF);
  client.config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  EXPECT_THAT(buildError(client), HasSubstr("is asked to compute in f16"));
  client.config->setFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  EXPECT_THAT(buildError(client), HasSubstr("exclude each other"));
}

TEST(Precision, InputsAndOutputsInTheUsersTypes) {
  Client client;
  describe(client);
  client.network->getInput(0)->setType(DataType::kHALF);
  client.network->getOutput(0)->setType(DataType::kINT32);
  EXPECT_EQ(client.network->getInput(0)->getType(), DataType::kHALF);
  EXPECT_EQ(client.network->getOutput(0)->getType(), DataType::kINT32);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  EXPECT_EQ(engine->getTensorDataType("x"), DataType::kHALF);
  EXPECT_EQ(engine->getTensorDataType("y"), DataType::kINT32);
  const std::vector<Half> x{Half(1.5f), Half(0), Half(0), Half(1)};
  EXPECT_THAT(client.run<int32_t>({feedOf(x)}), ElementsAre(1, 0, 2, 3));
}

TEST(Precision, StronglyTypedNetworksKeepTheirTypes) {
  Client client;
  client.network.reset(client.builder->createNetworkV2(
      1u << static_cast<uint32_t>(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)));
  client.network->setErrorRecorder(&client.recorder);
  IMatrixMultiplyLayer* product = describe(client);
  product->setPrecision(DataType::kHALF);
  EXPECT_TRUE(client.reported("add a cast layer"));
  EXPECT_FALSE(product->precisionIsSet());
  client.network->getInput(0)->setType(DataType::kHALF);
  EXPECT_TRUE(client.reported("add a cast layer"));
  EXPECT_EQ(client.network->getInput(0)->getType(), DataType::kFLOAT);
  ITensor* x = client.network->getInput(0);
  ITensor* half = client.network->addCast(*x, DataType::kHALF)->getOutput(0);
  EXPECT_FALSE(client.network->addElementWise(*x, *half, ElementWiseOperation::kSUM));
  EXPECT_TRUE(client.reported("cast one of them"));
  client.config->setFlag(BuilderFlag::kFP16);
  EXPECT_THAT(buildError(client),
              HasSubstr("builder flag kFP16 cannot be set for a strongly typed network"));
  client.config->clearFlag(BuilderFlag::kFP16);
  EXPECT_TRUE(client.build());
}

}  // namespace
}  // namespace camshaft::api
