// Tensors shown to a listener while an engine runs; also run on the emulated GPU.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;
using Floats = std::vector<float>;

struct Shown {
  std::string name;
  std::vector<int64_t> shape;
  Floats values;
};

class Listener : public IDebugListener {
 public:
  explicit Listener(const ICudaEngine& engine) : engine_(engine) {}
  bool processDebugTensor(const void* address, TensorLocation location, DataType type,
                          const Dims& dims, const char* name, cudaStream_t stream) override {
    EXPECT_EQ(type, DataType::kFLOAT);
    EXPECT_EQ(location, engine_.getDevice() ? TensorLocation::kDEVICE : TensorLocation::kHOST);
    Floats values(static_cast<size_t>(countOf(dims)));
    const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
    if (engine_.getDevice()) {
      engine_.getDevice()->copy(values.data(), address, bytes, stream);
      engine_.getDevice()->synchronize(stream);
    } else {
      std::memcpy(values.data(), address, static_cast<size_t>(bytes));
    }
    shown.push_back({name, listOf(dims), values});
    return isContent;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Shown& one : shown) names.push_back(one.name);
    return names;
  }
  std::vector<Shown> shown;
  bool isContent = true;

 private:
  const ICudaEngine& engine_;
};

// One run after the other, in one context with a listener.
class Session {
 public:
  Session(const ICudaEngine& engine, const Floats& x, int64_t results)
      : listener(engine),
        context(const_cast<ICudaEngine&>(engine).createExecutionContext()),
        x_(engine, x.data(), static_cast<int64_t>(x.size() * sizeof(float))),
        y_(engine, nullptr, results * static_cast<int64_t>(sizeof(float))) {
    context->setTensorAddress("x", x_.data());
    context->setTensorAddress("y", y_.data());
    EXPECT_TRUE(context->setDebugListener(&listener));
    EXPECT_EQ(context->getDebugListener(), &listener);
  }
  bool operator()() {
    listener.shown.clear();
    return context->enqueueV3(nullptr);
  }
  Floats y() const { return y_.read<float>(); }

  Listener listener;
  std::unique_ptr<IExecutionContext> context;

 private:
  TestMemory x_, y_;
};

// y = -relu(x + x)
struct Chain : Client {
  ITensor* x = input("x", {1, {4}});
  ITensor* sum = network->addElementWise(*x, *x, ElementWiseOperation::kSUM)->getOutput(0);
  ITensor* relu = network->addActivation(*sum, ActivationType::kRELU)->getOutput(0);
  Chain() {
    sum->setName("sum");
    relu->setName("relu");
    output(network->addUnary(*relu, UnaryOperation::kNEG)->getOutput(0), "y");
  }
};

const Floats kX{1, -2, 3, -4}, kY{-2, 0, -6, 0};

TEST(DebugTensors, AreShownWhereAskedFor) {
  Chain client;
  EXPECT_TRUE(client.network->markDebug(*client.sum));
  EXPECT_TRUE(client.network->markDebug(*client.relu));
  EXPECT_TRUE(client.network->unmarkDebug(*client.relu));
  EXPECT_TRUE(client.network->isDebugTensor(*client.sum));
  EXPECT_FALSE(client.network->isDebugTensor(*client.relu));
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  EXPECT_TRUE(engine->isDebugTensor("sum"));
  EXPECT_FALSE(engine->isDebugTensor("relu"));
  EXPECT_FALSE(engine->isDebugTensor(nullptr));

  Session run(*engine, kX, 4);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run());
    EXPECT_TRUE(run.listener.shown.empty());
    EXPECT_EQ(run.y(), kY);
  }
  EXPECT_FALSE(run.context->getDebugState("sum"));
  EXPECT_TRUE(run.context->setTensorDebugState("sum", true));
  EXPECT_TRUE(run.context->getDebugState("sum"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run());
    ASSERT_THAT(run.listener.names(), ElementsAre("sum"));
    EXPECT_THAT(run.listener.shown[0].shape, ElementsAre(4));
    EXPECT_THAT(run.listener.shown[0].values, ElementsAre(2, -4, 6, -8));
    EXPECT_EQ(run.y(), kY);
  }
  EXPECT_TRUE(run.context->setAllTensorsDebugState(false));
  ASSERT_TRUE(run());
  EXPECT_TRUE(run.listener.shown.empty());

  EXPECT_FALSE(run.context->setTensorDebugState("relu", true));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("'relu' is no debug tensor"));
  EXPECT_TRUE(run.context->setAllTensorsDebugState(true));
  run.listener.isContent = false;
  EXPECT_FALSE(run());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("the debug listener failed on tensor 'sum'"));
  EXPECT_TRUE(run.context->setDebugListener(nullptr));
  EXPECT_TRUE(run());
}

TEST(DebugTensors, MayBeInputsAndOutputs) {
  Chain client;
  EXPECT_TRUE(client.network->markDebug(*client.x));
  EXPECT_TRUE(client.network->markDebug(*client.network->getOutput(0)));
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  Session run(*engine, kX, 4);
  EXPECT_TRUE(run.context->setAllTensorsDebugState(true));
  ASSERT_TRUE(run());
  ASSERT_THAT(run.listener.names(), ElementsAre("x", "y"));
  EXPECT_EQ(run.listener.shown[0].values, kX);
  EXPECT_EQ(run.listener.shown[1].values, kY);
}

// Matrix products are not fused with one another; the sum is, with the product before it.
TEST(DebugTensors, UnfusedOnesAreThoseThatAreStored) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 2));
  const Floats w{1, 2, 3, 4};
  ITensor* weights = client.network->addConstant(Dims2(2, 2), weightsOf(w))->getOutput(0);
  const auto times = [&](ITensor* a, const char* name) {
    ITensor* product =
        client.network
            ->addMatrixMultiply(*a, MatrixOperation::kNONE, *weights, MatrixOperation::kNONE)
            ->getOutput(0);
    product->setName(name);
    return product;
  };
  ITensor* first = times(x, "first");
  ITensor* relu = client.network->addActivation(*first, ActivationType::kRELU)->getOutput(0);
  relu->setName("relu");
  client.output(times(relu, "second"), "y");
  ASSERT_TRUE(client.network->markUnfusedTensorsAsDebugTensors());
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  EXPECT_FALSE(engine->isDebugTensor("relu"));
  Session run(*engine, {1, 0, 0, 1}, 4);
  ASSERT_TRUE(run());
  EXPECT_TRUE(run.listener.shown.empty());
  EXPECT_FALSE(run.context->getUnfusedTensorsDebugState());
  EXPECT_TRUE(run.context->setUnfusedTensorsDebugState(true));
  EXPECT_TRUE(run.context->getUnfusedTensorsDebugState());
  ASSERT_TRUE(run());
  EXPECT_THAT(run.listener.names(), ElementsAre("relu"));
  EXPECT_EQ(run.listener.shown[0].values, w);
  EXPECT_THAT(run.y(), ElementsAre(7, 10, 15, 22));
}

TEST(DebugTensors, InALoopAreShownInEveryIteration) {
  Client client;
  ITensor* x = client.input("x", {1, {2}});
  ILoop* loop = client.network->addLoop();
  const std::vector<int32_t> trips{3};
  loop->addTripLimit(
      *client.network->addConstant({0, {}}, weightsOf(trips, DataType::kINT32))->getOutput(0),
      TripLimit::kCOUNT);
  IRecurrenceLayer* value = loop->addRecurrence(*x);
  ITensor* next =
      client.network->addElementWise(*value->getOutput(0), *x, ElementWiseOperation::kSUM)
          ->getOutput(0);
  next->setName("next");
  value->setInput(1, *next);
  client.output(loop->addLoopOutput(*value->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0),
                "y");
  ASSERT_TRUE(client.network->markDebug(*next));
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  ASSERT_TRUE(engine->isDebugTensor("next"));
  Session run(*engine, {1, 2}, 2);
  EXPECT_TRUE(run.context->setTensorDebugState("next", true));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run());
    ASSERT_THAT(run.listener.names(), ElementsAre("next", "next", "next"));
    EXPECT_THAT(run.listener.shown[0].values, ElementsAre(2, 4));
    EXPECT_THAT(run.listener.shown[1].values, ElementsAre(3, 6));
    EXPECT_THAT(run.listener.shown[2].values, ElementsAre(4, 8));
    EXPECT_THAT(run.y(), ElementsAre(4, 8));
  }
}

}  // namespace
}  // namespace camshaft::api
