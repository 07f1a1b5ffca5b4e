#include "runtime/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// x[n, 3], whose elements a bind step reads as m; then y[2*n, m] is written.
Plan boundPlan() {
  Plan plan;
  plan.inputs = {{.name = "x",
                  .tensor = {DataType::kI64, {{.slot = 0}, {.constant = 3}}},
                  .dimNames = {"n", ""}}};
  plan.outputs = {{.name = "y", .isInput = false, .dimNames = {"", "m"}}};
  ProfilePlan& profile = plan.profiles.emplace_back();
  profile.inputs = {{{1, 3}, {2, 3}, {4, 3}}};
  profile.slotCount = 4;  // n, m, 2, 2 * n
  profile.dimProgram = {{.op = DimOp::kConstant, .target = 2, .constant = 2},
                        {.op = DimOp::kMultiply, .target = 3, .a = 0, .b = 2}};
  profile.firstPhaseEnd = 2;
  const TensorDesc y{DataType::kF32, {{.slot = 3}, {.slot = 1}}};
  profile.outputs = {y};
  profile.outputMaxBytes = {4 * 8 * 10};
  profile.steps.push_back(
      {.kind = StepKind::kBindDims,
       .name = "bind",
       .inputs = {{.place = Place::kInput, .index = 0, .tensor = plan.inputs[0].tensor}},
       .bindSlots = {1},
       .bindMin = {0},
       .bindMax = {10},
       .dimBegin = 2,
       .dimEnd = 2});
  profile.steps.push_back({.name = "write",
                           .kernel = "cpu/copy",
                           .outputs = {{.place = Place::kOutput, .index = 0, .tensor = y}},
                           .dimArgs = {{.slot = 1}}});
  return plan;
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

TEST(Sizes, FollowShapesAndThenWhatStepsBind) {
  const Plan plan = boundPlan();
  Sizes sizes(plan, 0);
  sizes.resolve();
  EXPECT_FALSE(sizes.allInputsSet());
  EXPECT_THAT(sizes.outputShape(0), ElementsAre(-1, -1));
  sizes.setInputShape(0, std::vector<int64_t>{3, 3});
  EXPECT_EQ(sizes.inputBytes(0), 3 * 3 * 8);
  EXPECT_THAT(sizes.outputShape(0), ElementsAre(6, -1));
  EXPECT_EQ(sizes.outputBytes(0), -1);
  EXPECT_THAT(messageOf([&] { sizes.requireKnown(1); }), HasSubstr("a size out of range"));

  const Step& bind = plan.profiles[0].steps[0];
  sizes.bind(bind, std::vector<int64_t>{5});
  EXPECT_THAT(sizes.outputShape(0), ElementsAre(6, 5));
  EXPECT_EQ(sizes.outputBytes(0), 6 * 5 * 4);
  EXPECT_THAT(sizes.step(1).outputs[0].shape(), ElementsAre(6, 5));
  EXPECT_THAT(sizes.step(1).dims, ElementsAre(5));
  EXPECT_EQ(sizes.outputBytesAhead(0), -1) << "a run has a say in it";
  EXPECT_NO_THROW(sizes.requireKnown(1));
  EXPECT_THAT(messageOf([&] { sizes.bind(bind, std::vector<int64_t>{11}); }),
              HasSubstr("element 0 is 11 and profile 0 was planned for 0 to 10"));

  sizes.forgetBound();
  EXPECT_THAT(sizes.outputShape(0), ElementsAre(6, -1));
}

TEST(Sizes, ThatChangedAreForTheLauncherToCheckAgain) {
  const Plan plan = boundPlan();
  Sizes sizes(plan, 0);
  sizes.setInputShape(0, std::vector<int64_t>{3, 3});
  const Step& bind = plan.profiles[0].steps[0];
  sizes.bind(bind, std::vector<int64_t>{5});
  sizes.step(1).isChecked = true;
  sizes.bind(bind, std::vector<int64_t>{5});
  EXPECT_TRUE(sizes.step(1).isChecked);
  sizes.bind(bind, std::vector<int64_t>{6});
  EXPECT_FALSE(sizes.step(1).isChecked);
}

TEST(Sizes, AreCheckedOnceAllInputsAreSet) {
  Plan plan = boundPlan();
  plan.profiles[0].sizeChecks = {
      {SizeRelation::kEqual, {.slot = 0}, {.constant = 2}, "n is ", " and has to be ", ""}};
  Sizes sizes(plan, 0);
  sizes.resolve();
  EXPECT_THAT(messageOf([&] { sizes.checkInputs(); }), HasSubstr("shape of input 'x' is not set"));
  sizes.setInputShape(0, std::vector<int64_t>{3, 3});
  EXPECT_THAT(messageOf([&] { sizes.checkInputs(); }), HasSubstr("n is 3 and has to be 2"));
  sizes.setInputShape(0, std::vector<int64_t>{2, 3});
  EXPECT_NO_THROW(sizes.checkInputs());
}

}  // namespace
}  // namespace camshaft
