// Assertions: known while building, and found out by a run.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;

// y = x + x, for x [rows, 2] of an even number of rows.
struct EvenRows : Client {
  ITensor* x;
  IAssertionLayer* assertion;
  explicit EvenRows(int64_t rows) {
    x = input("x", Dims2(rows, 2));
    output(network->addElementWise(*x, *x, ElementWiseOperation::kSUM)->getOutput(0), "y");
    ITensor* shape = network->addShape(*x)->getOutput(0);
    ITensor* count = network->addGather(*shape, *integers({0}), 0)->getOutput(0);
    ITensor* half =
        network->addElementWise(*count, *integers({2}), ElementWiseOperation::kFLOOR_DIV)
            ->getOutput(0);
    ITensor* twice =
        network->addElementWise(*half, *integers({2}), ElementWiseOperation::kPROD)->getOutput(0);
    ITensor* isEven =
        network->addElementWise(*twice, *count, ElementWiseOperation::kEQUAL)->getOutput(0);
    assertion = network->addAssertion(*isEven, "rows come in pairs");
  }
};

TEST(AssertionLayer, IsKnownToHoldOrNotWhileBuilding) {
  EvenRows even(4), odd(3);
  ASSERT_TRUE(even.assertion);
  EXPECT_STREQ(even.assertion->getMessage(), "rows come in pairs");
  EXPECT_EQ(even.assertion->getNbOutputs(), 0);
  EXPECT_EQ(even.assertion->getType(), LayerType::kASSERTION);
  const std::vector<float> data = iota(8);
  EXPECT_THAT(even.run({{"x", Dims2(4, 2), data.data()}}).back(), 14);
  EXPECT_FALSE(odd.build());
  EXPECT_THAT(odd.logger.errors.back(), HasSubstr("does not hold: rows come in pairs"));
  odd.x->setDimensions(Dims2(2, 2));
  EXPECT_TRUE(odd.build());
}

TEST(AssertionLayer, FailsTheRunThatItDoesNotHoldFor) {
  EvenRows client(-1);
  client.assertion->setMessage("an odd one is left over");
  client.assertion->setName("pairs");
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  const std::vector<float> data = iota(8);
  EXPECT_EQ(client.runEngine(*engine, {{"x", Dims2(4, 2), data.data()}}).size(), 8u);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  ASSERT_TRUE(context->setInputShape("x", Dims2(3, 2)));
  std::vector<float> result(8);
  context->setInputTensorAddress("x", data.data());
  context->setTensorAddress("y", result.data());
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("pairs: an odd one is left over"));
}

TEST(AssertionLayer, OfSeveralConditionsThatDataDecides) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 2), DataType::kBOOL);
  ASSERT_TRUE(client.network->addAssertion(*x, "all must be set"));
  client.output(client.network->addCast(*x, DataType::kFLOAT)->getOutput(0), "y");
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  const bool all[] = {true, true, true, true}, most[] = {true, true, false, true};
  EXPECT_THAT(client.runEngine(*engine, {{"x", Dims2(2, 2), all}}), ElementsAre(1, 1, 1, 1));
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  std::vector<float> result(4);
  context->setInputTensorAddress("x", most);
  context->setTensorAddress("y", result.data());
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("all must be set"));
  EXPECT_FALSE(client.network->addAssertion(*client.input("number", {1, {1}}), "no"));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("a condition of type bool"));
}

}  // namespace
}  // namespace camshaft::api
