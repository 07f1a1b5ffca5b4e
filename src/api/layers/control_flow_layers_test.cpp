// Conditionals and loops added call by call, with numbers by hand.
#include <gmock/gmock.h>

#include <functional>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using Floats = std::vector<float>;

struct Flow : Client {
  ITensor* scalar(float value) { return kept<float>({0, {}}, {value}, DataType::kFLOAT); }
  ITensor* scalar(int32_t value) { return kept<int32_t>({0, {}}, {value}, DataType::kINT32); }
  ITensor* floats(const Floats& values) {
    return kept<float>({1, {static_cast<int64_t>(values.size())}}, values, DataType::kFLOAT);
  }
  ITensor* op(ElementWiseOperation operation, ITensor* a, ITensor* b) {
    return network->addElementWise(*a, *b, operation)->getOutput(0);
  }
  ITensor* sum(ITensor* a, ITensor* b) { return op(ElementWiseOperation::kSUM, a, b); }
  ITensor* product(ITensor* a, ITensor* b) { return op(ElementWiseOperation::kPROD, a, b); }
  ITensor* less(ITensor* a, ITensor* b) { return op(ElementWiseOperation::kLESS, a, b); }

  bool buildFails(const std::string& reason) {
    EXPECT_EQ(build(), nullptr);
    const bool found =
        !logger.errors.empty() && logger.errors.back().find(reason) != std::string::npos;
    if (!found) ADD_FAILURE() << (logger.errors.empty() ? "no error" : logger.errors.back());
    logger.errors.clear();
    recorder.clear();
    return found;
  }

 private:
  template <class T>
  ITensor* kept(const Dims& dims, const std::vector<T>& values, DataType type) {
    return network->addConstant(dims, weightsOf(values, type))->getOutput(0);
  }
};

const int32_t kTrue = 1;  // as bytes of a bool
const int32_t kFalse = 0;

// y = c ? x + x : x * x * x
struct Choosing : Flow {
  ITensor* c = input("c", {0, {}}, DataType::kBOOL);
  ITensor* x = input("x", {1, {3}});
  IIfConditional* conditional = network->addIfConditional();
  IConditionLayer* condition = conditional->setCondition(*c);
  IIfConditionalInputLayer* in = conditional->addInput(*x);
  IIfConditionalOutputLayer* out = nullptr;
  Choosing() {
    ITensor* v = in->getOutput(0);
    out = conditional->addOutput(*sum(v, v), *product(product(v, v), v));
    output(out->getOutput(0), "y");
  }
};

TEST(Conditionals, TakeEitherBranchAtRunTime) {
  Choosing client;
  const Floats x = {1, 2, -3};
  EXPECT_EQ(client.run({{"c", {0, {}}, &kTrue}, {"x", {1, {3}}, x.data()}}), Floats({2, 4, -6}));
  EXPECT_EQ(client.run({{"c", {0, {}}, &kFalse}, {"x", {1, {3}}, x.data()}}), Floats({1, 8, -27}));
}

TEST(Conditionals, LayersAndTensorsAreThere) {
  Choosing client;
  EXPECT_EQ(client.condition->getConditional(), client.conditional);
  EXPECT_EQ(client.in->getConditional(), client.conditional);
  EXPECT_EQ(client.out->getConditional(), client.conditional);
  EXPECT_EQ(client.condition->getType(), LayerType::kCONDITION);
  EXPECT_EQ(client.in->getType(), LayerType::kCONDITIONAL_INPUT);
  EXPECT_EQ(client.out->getType(), LayerType::kCONDITIONAL_OUTPUT);
  EXPECT_EQ(client.network->getNbLayers(), 6);
  EXPECT_THAT(listOf(client.out->getOutput(0)->getDimensions()), ElementsAre(3));
  client.conditional->setName("choice");
  EXPECT_STREQ(client.conditional->getName(), "choice");
  ITensor* other = client.input("other", {0, {}}, DataType::kBOOL);
  EXPECT_EQ(client.conditional->setCondition(*other), client.condition);
  EXPECT_EQ(client.condition->getInput(0), other);
}

TEST(Conditionals, BranchesOfDifferentSizesReadOutsideTensors) {
  Flow client;
  ITensor* c = client.input("c", {0, {}}, DataType::kBOOL);
  ITensor* x = client.input("x", {1, {-1}});
  IOptimizationProfile* profile = client.builder->createOptimizationProfile();
  profile->setDimensions("x", OptProfileSelector::kMIN, {1, {1}});
  profile->setDimensions("x", OptProfileSelector::kOPT, {1, {2}});
  profile->setDimensions("x", OptProfileSelector::kMAX, {1, {8}});
  client.config->addOptimizationProfile(profile);
  IIfConditional* conditional = client.network->addIfConditional();
  conditional->setCondition(*c);
  ITensor* v = conditional->addInput(*x)->getOutput(0);
  ITensor* twice[] = {v, x};
  ITensor* whole = client.network->addConcatenation(twice, 2)->getOutput(0);
  IIfConditionalOutputLayer* out = conditional->addOutput(*whole, *client.sum(v, x));
  EXPECT_THAT(listOf(out->getOutput(0)->getDimensions()), ElementsAre(-1));
  client.output(out->getOutput(0), "y");
  const Floats values = {1, 2};
  EXPECT_EQ(client.run({{"c", {0, {}}, &kTrue}, {"x", {1, {2}}, values.data()}}),
            Floats({1, 2, 1, 2}));
  EXPECT_EQ(client.run({{"c", {0, {}}, &kFalse}, {"x", {1, {2}}, values.data()}}), Floats({2, 4}));
}

TEST(Conditionals, SayWhatIsMissing) {
  Flow client;
  ITensor* x = client.input("x", {1, {2}});
  EXPECT_EQ(client.network->addIfConditional()->setCondition(*x), nullptr);
  EXPECT_TRUE(client.reported("needs a condition of one bool"));
  IIfConditional* conditional = client.network->addIfConditional();
  conditional->setName("choice");
  ITensor* v = conditional->addInput(*x)->getOutput(0);
  ITensor* inner = client.sum(v, v);
  EXPECT_EQ(conditional->addOutput(*inner, *client.scalar(1.0f)), nullptr);
  EXPECT_TRUE(client.reported("both branches need the same type and rank"));
  client.output(conditional->addOutput(*inner, *v)->getOutput(0), "y");
  EXPECT_TRUE(client.buildFails("conditional 'choice' has no condition"));
  conditional->setCondition(*client.input("c", {0, {}}, DataType::kBOOL));
  client.network->markOutput(*inner);
  EXPECT_TRUE(client.buildFails("computed inside of conditional 'choice'"));
}

TEST(Loops, CountIterations) {  // x to the power of n, for n of the network and of the run
  Flow client;
  ITensor* n = client.input("n", {0, {}}, DataType::kINT32);
  ITensor* x = client.input("x", {1, {2}});
  ILoop* loop = client.network->addLoop();
  ITripLimitLayer* limit = loop->addTripLimit(*n, TripLimit::kCOUNT);
  IRecurrenceLayer* power = loop->addRecurrence(*client.floats({1, 1}));
  EXPECT_EQ(power->getNbInputs(), 1);
  power->setInput(1, *client.product(power->getOutput(0), x));
  EXPECT_EQ(power->getNbInputs(), 2);
  ILoopOutputLayer* out = loop->addLoopOutput(*power->getOutput(0), LoopOutput::kLAST_VALUE);
  client.output(out->getOutput(0), "y");
  EXPECT_EQ(limit->getLoop(), loop);
  EXPECT_EQ(power->getLoop(), loop);
  EXPECT_EQ(out->getLoop(), loop);
  EXPECT_EQ(limit->getTripLimit(), TripLimit::kCOUNT);
  EXPECT_EQ(out->getLoopOutput(), LoopOutput::kLAST_VALUE);
  EXPECT_EQ(power->getType(), LayerType::kRECURRENCE);
  const Floats values = {2, -3};
  for (const auto& [count, expected] :
       {std::pair{int32_t{3}, Floats({8, -27})}, {int32_t{0}, Floats({1, 1})}})
    EXPECT_EQ(client.run({{"n", {0, {}}, &count}, {"x", {1, {2}}, values.data()}}), expected);
}

TEST(Loops, GoOnWhileAConditionHolds) {  // doubles until the sum is 100 or more
  Flow client;
  ITensor* x = client.input("x", {0, {}});
  ILoop* loop = client.network->addLoop();
  IRecurrenceLayer* value = loop->addRecurrence(*x);
  IRecurrenceLayer* count = loop->addRecurrence(*client.scalar(0));
  ITensor* v = value->getOutput(0);
  ASSERT_NE(loop->addTripLimit(*client.less(v, client.scalar(100.0f)), TripLimit::kWHILE), nullptr);
  value->setInput(1, *client.sum(v, v));
  count->setInput(1, *client.sum(count->getOutput(0), client.scalar(1)));
  client.output(loop->addLoopOutput(*v, LoopOutput::kLAST_VALUE)->getOutput(0), "y");
  client.output(loop->addLoopOutput(*count->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0),
                "n");
  const auto engine = client.build();
  ASSERT_NE(engine, nullptr);
  const float three = 3, large = 200;
  EXPECT_THAT(client.runEngine(*engine, {{"x", {0, {}}, &three}}), ElementsAre(192));
  EXPECT_THAT(client.runEngine<int32_t>(*engine, {{"x", {0, {}}, &three}}, "n"), ElementsAre(6));
  EXPECT_THAT(client.runEngine(*engine, {{"x", {0, {}}, &large}}), ElementsAre(200));
  EXPECT_THAT(client.runEngine<int32_t>(*engine, {{"x", {0, {}}, &large}}, "n"), ElementsAre(0));
}

// Running sums of the rows or columns of x [2, 3], in all orders.
struct RunningSums : Flow {
  ITensor* x = input("x", {2, {2, 3}});
  ILoop* loop = network->addLoop();
  IIteratorLayer* row = loop->addIterator(*x);
  IRecurrenceLayer* total = nullptr;
  ILoopOutputLayer* all = nullptr;
  const Floats values = {1, 2, 3, 10, 20, 30};

  void finish(int32_t trips, int64_t width, LoopOutput kind, int32_t axis) {
    ITensor* count = scalar(trips);
    loop->addTripLimit(*count, TripLimit::kCOUNT);
    total = loop->addRecurrence(*floats(Floats(width)));
    ITensor* next = sum(total->getOutput(0), row->getOutput(0));
    total->setInput(1, *next);
    all = loop->addLoopOutput(*next, kind, axis);
    all->setInput(1, *count);
    output(all->getOutput(0), "y");
  }
  Floats result() { return run({{"x", {2, {2, 3}}, values.data()}}); }
};

TEST(Loops, IterateOverRows) {
  RunningSums client;
  EXPECT_THAT(listOf(client.row->getOutput(0)->getDimensions()), ElementsAre(3));
  client.finish(2, 3, LoopOutput::kCONCATENATE, 0);
  EXPECT_THAT(listOf(client.all->getOutput(0)->getDimensions()), ElementsAre(2, 3));
  EXPECT_EQ(client.result(), Floats({1, 2, 3, 11, 22, 33}));
}

TEST(Loops, IterateOverColumnsBackwards) {
  RunningSums client;
  client.row->setAxis(1);
  client.row->setReverse(true);
  EXPECT_EQ(client.row->getAxis(), 1);
  EXPECT_TRUE(client.row->getReverse());
  client.finish(3, 2, LoopOutput::kCONCATENATE, 0);
  EXPECT_EQ(client.result(), Floats({3, 30, 5, 50, 6, 60}));
}

TEST(Loops, GiveIterationsInReverseAlongAnAxis) {
  RunningSums client;
  client.finish(2, 3, LoopOutput::kREVERSE, 1);
  EXPECT_THAT(listOf(client.all->getOutput(0)->getDimensions()), ElementsAre(3, 2));
  EXPECT_EQ(client.result(), Floats({11, 1, 22, 2, 33, 3}));
  client.all->setAxis(0);
  EXPECT_EQ(client.all->getAxis(), 0);
  EXPECT_EQ(client.result(), Floats({11, 22, 33, 1, 2, 3}));
}

TEST(Loops, EndBeforeTheLengthAskedFor) {
  Flow client;
  ITensor* n = client.input("n", {0, {}}, DataType::kINT32);
  ILoop* loop = client.network->addLoop();
  IRecurrenceLayer* value = loop->addRecurrence(*client.scalar(1.0f));
  ITensor* v = value->getOutput(0);
  loop->addTripLimit(*n, TripLimit::kCOUNT);
  loop->addTripLimit(*client.less(v, client.scalar(5.0f)), TripLimit::kWHILE);
  value->setInput(1, *client.sum(v, v));
  ILoopOutputLayer* all = loop->addLoopOutput(*v, LoopOutput::kCONCATENATE);
  all->setInput(1, *n);
  client.output(all->getOutput(0), "y");
  const auto engine = client.build();
  ASSERT_NE(engine, nullptr);
  const int32_t two = 2, five = 5;
  EXPECT_EQ(client.runEngine(*engine, {{"n", {0, {}}, &two}}), Floats({1, 2}));
  EXPECT_EQ(client.runEngine(*engine, {{"n", {0, {}}, &five}}), Floats({1, 2, 4, 0, 0}));
}

TEST(Loops, ReadOutsideTensorsOfRunTimeSizes) {  // y = sum over i of rows(i) * (w ++ w)
  Flow client;
  ITensor* x = client.input("x", {2, {-1, -1}});
  ITensor* w = client.input("w", {1, {-1}});
  IOptimizationProfile* profile = client.builder->createOptimizationProfile();
  for (const auto& [selector, rows, width] : {std::tuple{OptProfileSelector::kMIN, 1, 1},
                                              {OptProfileSelector::kOPT, 2, 2},
                                              {OptProfileSelector::kMAX, 8, 8}}) {
    profile->setDimensions("x", selector, {2, {rows, 2 * width}});
    profile->setDimensions("w", selector, {1, {width}});
  }
  client.config->addOptimizationProfile(profile);
  ITensor* twice[] = {w, w};
  ITensor* wide = client.network->addConcatenation(twice, 2)->getOutput(0);  // 2 * size of w
  ITensor* rows =
      client.network->addGather(*client.network->addShape(*x)->getOutput(0), *client.scalar(0), 0)
          ->getOutput(0);
  ILoop* loop = client.network->addLoop();
  loop->addTripLimit(*rows, TripLimit::kCOUNT);
  ITensor* row = loop->addIterator(*x)->getOutput(0);
  IRecurrenceLayer* total = loop->addRecurrence(*client.product(wide, client.floats({0})));
  ITensor* weighted = client.product(row, wide);
  total->setInput(1, *client.sum(total->getOutput(0), weighted));
  ILoopOutputLayer* all = loop->addLoopOutput(*weighted, LoopOutput::kREVERSE);
  all->setInput(1, *rows);
  client.output(loop->addLoopOutput(*total->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0),
                "y");
  client.output(all->getOutput(0), "all");
  const Floats values = {1, 2, 3, 4}, weights = {10};
  const std::vector<Feed> feeds = {{"x", {2, {2, 2}}, values.data()},
                                   {"w", {1, {1}}, weights.data()}};
  EXPECT_EQ(client.run(feeds), Floats({40, 60}));
  EXPECT_EQ(client.run(feeds, "all"), Floats({30, 40, 10, 20}));
}

// y = c ? (x + 1) * 2 ^ n : x, where the loop is in the branch.
TEST(Loops, RunInsideOfABranch) {
  Flow client;
  ITensor* c = client.input("c", {0, {}}, DataType::kBOOL);
  ITensor* n = client.input("n", {0, {}}, DataType::kINT32);
  ITensor* x = client.input("x", {1, {2}});
  IIfConditional* conditional = client.network->addIfConditional();
  conditional->setCondition(*c);
  ITensor* v = conditional->addInput(*x)->getOutput(0);
  ILoop* loop = client.network->addLoop();
  loop->addTripLimit(*n, TripLimit::kCOUNT);
  IRecurrenceLayer* value = loop->addRecurrence(*client.sum(v, client.floats({1, 1})));
  value->setInput(1, *client.sum(value->getOutput(0), value->getOutput(0)));
  ITensor* last = loop->addLoopOutput(*value->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0);
  client.output(conditional->addOutput(*last, *v)->getOutput(0), "y");
  const Floats values = {1, 2};
  const int32_t three = 3;
  const auto result = [&](const int32_t& condition) {
    return client.run(
        {{"c", {0, {}}, &condition}, {"n", {0, {}}, &three}, {"x", {1, {2}}, values.data()}});
  };
  EXPECT_EQ(result(kTrue), Floats({16, 24}));
  EXPECT_EQ(result(kFalse), Floats({1, 2}));
}

// Of each row, the sum of its positive elements: a conditional in a loop in a loop. The inner loop
// begins with constants; only its body reads the outer one.
TEST(Loops, Nest) {
  Flow client;
  ITensor* x = client.input("x", {2, {2, 3}});
  ITensor *two = client.scalar(2), *three = client.scalar(3), *zero = client.scalar(0.0f);
  ILoop* outer = client.network->addLoop();
  outer->addTripLimit(*two, TripLimit::kCOUNT);
  ITensor* row = outer->addIterator(*x)->getOutput(0);
  ILoop* inner = client.network->addLoop();
  inner->addTripLimit(*three, TripLimit::kCOUNT);
  ITensor* element = inner->addIterator(*row)->getOutput(0);
  IRecurrenceLayer* total = inner->addRecurrence(*zero);
  ITensor* t = total->getOutput(0);
  IIfConditional* conditional = client.network->addIfConditional();
  conditional->setCondition(*client.less(zero, element));
  ITensor* inBranch = conditional->addInput(*t)->getOutput(0);
  total->setInput(1,
                  *conditional->addOutput(*client.sum(inBranch, element), *inBranch)->getOutput(0));
  ITensor* sumOfRow = inner->addLoopOutput(*t, LoopOutput::kLAST_VALUE)->getOutput(0);
  ILoopOutputLayer* all = outer->addLoopOutput(*sumOfRow, LoopOutput::kCONCATENATE);
  all->setInput(1, *two);
  client.output(all->getOutput(0), "y");
  const Floats values = {1, -2, 3, -10, 20, 30};
  EXPECT_EQ(client.run({{"x", {2, {2, 3}}, values.data()}}), Floats({4, 50}));
}

TEST(Loops, FollowAChangeOfTheirInput) {
  RunningSums client;
  client.finish(2, 3, LoopOutput::kCONCATENATE, 0);
  client.x->setDimensions({2, {4, 3}});
  EXPECT_THAT(listOf(client.all->getOutput(0)->getDimensions()), ElementsAre(2, 3));
  client.all->setInput(1, *client.scalar(4));
  EXPECT_THAT(listOf(client.all->getOutput(0)->getDimensions()), ElementsAre(4, 3));
}

TEST(Loops, SayWhatIsMissing) {
  Flow client;
  ITensor* x = client.input("x", {1, {2}});
  ILoop* loop = client.network->addLoop();
  loop->setName("decode");
  EXPECT_EQ(loop->addTripLimit(*x, TripLimit::kWHILE), nullptr);
  EXPECT_TRUE(client.reported("needs a condition of one bool"));
  EXPECT_EQ(loop->addIterator(*x, 1), nullptr);
  EXPECT_TRUE(client.reported("axis 1 of a tensor of rank 1"));
  EXPECT_EQ(loop->addLoopOutput(*x, static_cast<LoopOutput>(7)), nullptr);
  EXPECT_TRUE(client.reported("there is no loop output 7"));

  IRecurrenceLayer* value = loop->addRecurrence(*x);
  value->setName("state");
  ITensor* v = value->getOutput(0);
  ITensor* next = client.sum(v, v);
  client.output(loop->addLoopOutput(*v, LoopOutput::kLAST_VALUE)->getOutput(0), "y");
  EXPECT_TRUE(client.buildFails("layer 'state' needs its second input"));
  value->setInput(1, *client.input("wide", {1, {3}}));
  EXPECT_TRUE(client.buildFails("loop 'decode' has no trip limit"));
  ITensor* three = client.scalar(3);
  loop->addTripLimit(*three, TripLimit::kCOUNT);
  EXPECT_EQ(loop->addTripLimit(*three, TripLimit::kCOUNT), nullptr);
  EXPECT_TRUE(client.reported("has a trip limit of kind kCOUNT already"));
  EXPECT_TRUE(
      client.buildFails("'state' of loop 'decode' begins with f32[2] and goes on with f32[3]"));
  value->setInput(1, *next);
  ASSERT_NE(client.build(), nullptr);

  ILoopOutputLayer* all = loop->addLoopOutput(*next, LoopOutput::kCONCATENATE);
  all->setName("states");
  EXPECT_TRUE(client.buildFails("layer 'states' needs its second input"));
  all->setInput(1, *three);
  ASSERT_NE(client.build(), nullptr);
  loop->addLoopOutput(*next, LoopOutput::kLAST_VALUE)->setName("last");
  EXPECT_TRUE(client.buildFails("no output of a recurrence"));
}

TEST(Loops, NothingElseLeavesThem) {
  Flow client;
  ITensor* x = client.input("x", {1, {2}});
  ILoop* loop = client.network->addLoop();
  loop->setName("decode");
  loop->addTripLimit(*client.scalar(3), TripLimit::kCOUNT);
  IRecurrenceLayer* value = loop->addRecurrence(*x);
  ITensor* next = client.sum(value->getOutput(0), x);
  value->setInput(1, *next);
  client.output(loop->addLoopOutput(*value->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0),
                "y");
  client.output(client.sum(next, next), "leak");
  EXPECT_TRUE(client.buildFails("tensor 'leak' is computed inside of loop 'decode'"));
}

}  // namespace
}  // namespace camshaft::api
