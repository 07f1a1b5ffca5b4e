#include "runtime/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Copies its input, [n, 3] with n of the profile's range, to its output by way of the arena.
Plan copyPlan() {
  const TensorDesc tensor{DataType::kF32, {{.slot = 0}, {.constant = 3}}};
  Plan plan;
  plan.inputs = {{.name = "x", .tensor = tensor, .dimNames = {"n", ""}}};
  plan.outputs = {{.name = "y", .tensor = tensor, .isInput = false, .dimNames = {"n", ""}}};
  for (int64_t most : {4, 100}) {
    ProfilePlan& profile = plan.profiles.emplace_back();
    profile.inputs = {{{1, 3}, {2, 3}, {most, 3}}};
    profile.slotCount = 1;
    profile.outputs = {tensor};
    profile.outputMaxBytes = {-1};
    profile.arenaBytes = most * 12;
    const Operand input{.place = Place::kInput, .index = 0, .tensor = tensor};
    const Operand middle{.place = Place::kArena, .tensor = tensor};
    const Operand output{.place = Place::kOutput, .index = 0, .tensor = tensor};
    profile.steps.push_back(
        {.name = "in", .kernel = "cpu/copy", .inputs = {input}, .outputs = {middle}});
    profile.steps.push_back(
        {.name = "out", .kernel = "cpu/copy", .inputs = {middle}, .outputs = {output}});
  }
  return plan;
}

std::shared_ptr<const LoadedEngine> load(Plan plan) {
  return std::make_shared<LoadedEngine>(std::move(plan));
}

template <class F>
std::string messageOf(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

void setRows(Context& context, int64_t rows) {
  const int64_t shape[] = {rows, 3};
  context.setInputShape(0, shape);
}

std::vector<float> counting(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

TEST(Context, FollowsShapesAndProfiles) {
  Context context(load(copyPlan()), 1);
  EXPECT_FALSE(context.allShapesSet());
  EXPECT_THAT(context.outputShape(0), ElementsAre(-1, 3));
  const std::vector<float> x = counting(300);
  std::vector<float> y(300);
  context.setInputAddress(0, x.data());
  context.setOutputAddress(0, y.data());
  for (const auto& [profile, rows] : {std::pair{0, 4}, {0, 1}, {1, 100}, {1, 2}, {0, 3}}) {
    if (profile != context.profile()) context.setProfile(profile);
    setRows(context, rows);
    EXPECT_THAT(context.outputShape(0), ElementsAre(rows, 3));
    std::fill(y.begin(), y.end(), 0.0f);
    context.run();
    EXPECT_TRUE(std::equal(y.begin(), y.begin() + rows * 3, x.begin())) << rows;
    EXPECT_TRUE(std::all_of(y.begin() + rows * 3, y.end(), [](float v) { return v == 0; })) << rows;
  }
}

TEST(Context, NamesWhatIsMissingOrWrong) {
  Context context(load(copyPlan()), 1);
  EXPECT_THAT(messageOf([&] { context.run(); }), HasSubstr("shape of input 'x' is not set"));
  EXPECT_THAT(messageOf([&] { setRows(context, 5); }),
              HasSubstr("dimension 0 of input 'x' is 5 and profile 0 allows 1 to 4"));
  EXPECT_THAT(messageOf([&] { context.setInputShape(0, std::vector<int64_t>{3}); }),
              HasSubstr("has 2 dimensions, not 1"));
  EXPECT_THAT(messageOf([&] { context.setProfile(2); }),
              HasSubstr("profile 2 does not exist; the engine has 2"));
  setRows(context, 2);
  EXPECT_THAT(messageOf([&] { context.run(); }), HasSubstr("input 'x' has no address"));
  const std::vector<float> x = counting(6);
  context.setInputAddress(0, x.data());
  EXPECT_THAT(messageOf([&] { context.run(); }), HasSubstr("output 'y' has no address"));
}

TEST(Context, AsksTheAllocatorForOutputs) {
  Context context(load(copyPlan()), 1);
  const std::vector<float> x = counting(6);
  std::vector<float> memory(6);
  setRows(context, 2);
  context.setInputAddress(0, x.data());
  context.setOutputAllocator(
      [&](int output, void*, int64_t bytes, std::span<const int64_t> dims) -> void* {
        EXPECT_EQ(output, 0);
        EXPECT_EQ(bytes, 24);
        EXPECT_THAT(dims, ElementsAre(2, 3));
        return memory.data();
      });
  context.run();
  EXPECT_EQ(memory, x);
  EXPECT_EQ(context.outputAddress(0), nullptr) << "the caller's is the caller's";
}

// The memory of "y" is looked at again whenever an address or a shape is another.
TEST(Context, RefusesOutputsOnTheMemoryOfInputs) {
  Context context(load(copyPlan()), 1);
  std::vector<float> memory = counting(24);
  const char* const said = "output 'y' lies on memory of input 'x'";
  const auto message = [&] { return messageOf([&] { context.run(); }); };
  context.setInputAddress(0, memory.data());
  context.setOutputAddress(0, memory.data() + 6);
  setRows(context, 2);
  EXPECT_EQ(message(), "");
  EXPECT_EQ(message(), "");
  setRows(context, 3);
  EXPECT_THAT(message(), HasSubstr(said));
  EXPECT_THAT(message(), HasSubstr(said)) << "and stays refused";
  context.setOutputAddress(0, memory.data() + 9);
  EXPECT_EQ(message(), "");
  context.setInputAddress(0, memory.data() + 9);
  EXPECT_THAT(message(), HasSubstr(said));
  context.setProfile(1);
  setRows(context, 1);
  EXPECT_THAT(message(), HasSubstr(said));
  context.setOutputAllocator(
      [&](int, void*, int64_t, std::span<const int64_t>) -> void* { return memory.data() + 11; });
  EXPECT_THAT(message(), HasSubstr(said));
  context.setInputAddress(0, memory.data());
  EXPECT_EQ(message(), "");
}

// Runs [2, 3] and sees whether all of it arrives where the caller said.
void expectRuns(Context& context) {
  const std::vector<float> x = counting(6);
  std::vector<float> y(6);
  setRows(context, 2);
  context.setInputAddress(0, x.data());
  context.setOutputAddress(0, y.data());
  context.run();
  EXPECT_EQ(y, x);
}

TEST(Context, AFailedRunLeavesItsAddressesAsTheyWere) {
  Context context(load(copyPlan()), 1);
  expectRuns(context);
  std::vector<float> y(6), other(6);
  const std::vector<float> x = counting(6);
  context.setInputAddress(0, x.data());
  context.setOutputAddress(0, y.data());
  context.setOutputAllocator([&](int, void* current, int64_t, std::span<const int64_t>) -> void* {
    EXPECT_EQ(current, y.data());
    return other.data();
  });
  context.setStepTimer([](const Step& step, double) {
    if (step.name == "out") fail(ErrorKind::kDevice, "the last step fails");
  });
  EXPECT_THAT(messageOf([&] { context.run(); }), HasSubstr("the last step fails"));
  EXPECT_EQ(context.outputAddress(0), y.data());
  context.setOutputAllocator(nullptr);
  context.setStepTimer(nullptr);
  std::fill(other.begin(), other.end(), 0.0f);
  context.run();
  EXPECT_EQ(y, x);
  EXPECT_EQ(other, std::vector<float>(6)) << "nothing is written where a failed run wrote";
}

TEST(Context, AProfileWithoutRoomIsNotTaken) {
  Plan plan = copyPlan();
  plan.profiles[1].arenaBytes = int64_t{1} << 60;
  const auto engine = load(std::move(plan));
  EXPECT_THAT(messageOf([&] { const Context all(engine, 1); }), HasSubstr("could not allocate"));
  Context context(engine, 1, Context::ArenaOwner::kPerProfile);
  expectRuns(context);
  EXPECT_THAT(messageOf([&] { context.setProfile(1); }), HasSubstr("could not allocate"));
  EXPECT_EQ(context.profile(), 0);
  EXPECT_THAT(context.inputShape(0), ElementsAre(2, 3));
  EXPECT_THAT(context.outputShape(0), ElementsAre(2, 3));
  expectRuns(context);
}

TEST(Context, AShapeThatIsRefusedIsNotTaken) {
  Plan plan = copyPlan();
  plan.profiles[0].arenaBytes = 3 * 12;  // an engine that promises four rows and has room for three
  Context context(load(std::move(plan)), 1);
  expectRuns(context);
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(messageOf([&] { setRows(context, 4); }), HasSubstr("more memory than was planned"));
  EXPECT_THAT(context.inputShape(0), ElementsAre(2, 3));
  EXPECT_THAT(context.outputShape(0), ElementsAre(2, 3));
  expectRuns(context);
}

TEST(Context, ReportsTheTimeOfEveryStep) {
  Context context(load(copyPlan()), 1);
  const std::vector<float> x = counting(3);
  std::vector<float> y(3);
  setRows(context, 1);
  context.setInputAddress(0, x.data());
  context.setOutputAddress(0, y.data());
  std::vector<std::string> steps;
  context.setStepTimer([&](const Step& step, double milliseconds) {
    EXPECT_GE(milliseconds, 0);
    steps.push_back(step.name);
  });
  context.run();
  EXPECT_THAT(steps, ElementsAre("in", "out"));
}

TEST(Context, OperandsThatDoNotFitAreRefusedBeforeTheLaunch) {
  Plan plan = copyPlan();
  plan.profiles[0].steps[0].inputs[0].tensor.type = DataType::kI32;
  Context context(load(std::move(plan)), 1);
  const std::vector<float> x = counting(6);
  std::vector<float> y(6);
  setRows(context, 2);
  context.setInputAddress(0, x.data());
  context.setOutputAddress(0, y.data());
  EXPECT_THAT(messageOf([&] { context.run(); }),
              HasSubstr("layer 'in' cannot run on tensors of these types and sizes (i32[2, 3])"));
}

TEST(Context, TensorsLargerThanTheirMemoryAreRefused) {
  for (const Place place : {Place::kArena, Place::kInput, Place::kOutput}) {
    Plan plan = copyPlan();
    for (Step& step : plan.profiles[0].steps)
      for (Operand* operand : {&step.inputs[0], &step.outputs[0]})
        if (operand->place == place) operand->tensor.dims[1].constant = 1000;
    Context context(load(std::move(plan)), 1);
    const std::vector<float> x = counting(6);
    std::vector<float> y(6);
    context.setInputAddress(0, x.data());
    context.setOutputAddress(0, y.data());
    EXPECT_NE(messageOf([&] {
                setRows(context, 2);
                context.run();
              }),
              "")
        << static_cast<int>(place);
  }
}

TEST(LoadedEngine, NamesTheKernelThatIsMissing) {
  Plan plan = copyPlan();
  plan.profiles[1].steps[1].kernel = "cpu/telepathy";
  EXPECT_THAT(messageOf([&] { load(std::move(plan)); }),
              HasSubstr("layer 'out' runs on kernel 'cpu/telepathy'"));
}

TEST(LoadedEngine, RefusesParametersThatAKernelDoesNotTake) {
  Plan plan = copyPlan();
  plan.profiles[0].steps[0].params.resize(8);
  EXPECT_THAT(messageOf([&] { load(std::move(plan)); }),
              HasSubstr("layer 'in' has parameters and its kernel 'cpu/copy' takes none"));
}

// The first large weights behind a step, as far as they are there: some arrive later.
TEST(LoadedEngine, KnowsTheWeightsThatComeNext) {
  constexpr int64_t kLarge = 256 * 1024;
  const std::vector<std::byte> weights(2 * kLarge + 64);
  const auto at = [](int64_t offset, int64_t bytes) {
    return Operand{.place = Place::kWeights,
                   .offset = offset,
                   .tensor = {DataType::kU8, {{.constant = bytes}}}};
  };
  Plan plan = copyPlan();
  plan.weights = weights;
  std::vector<Step>& steps = plan.profiles[0].steps;
  steps.resize(4, steps[0]);
  steps[1].inputs.push_back(at(kLarge, kLarge));
  steps[2].inputs = {at(2 * kLarge, 64), steps[2].inputs[0]};  // too few to mention
  steps[3].inputs = {at(0, 64), at(64, kLarge)};
  const auto engine = load(plan);
  const auto offsetOf = [&](size_t step) {
    const auto next = engine->upcoming(engine->steps(0)[step]);
    return next.empty() ? -1 : next.data() - weights.data();
  };
  EXPECT_EQ(offsetOf(0), kLarge);
  EXPECT_EQ(offsetOf(1), 64);
  EXPECT_EQ(offsetOf(2), 64);
  EXPECT_EQ(offsetOf(3), -1);
  EXPECT_EQ(engine->upcoming(engine->steps(0)[0]).size(), kLarge);
  plan.weights = std::span(weights).first(kLarge);
  const auto damaged = load(plan);
  EXPECT_TRUE(damaged->upcoming(damaged->steps(0)[0]).empty());
}

TEST(LoadedEngine, FindsTensorsByName) {
  const auto engine = load(copyPlan());
  EXPECT_EQ(engine->findInput("x"), 0);
  EXPECT_EQ(engine->findInput("y"), -1);
  EXPECT_EQ(engine->findOutput("y"), 0);
}

}  // namespace
}  // namespace camshaft
