#include "runtime/overlaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::HasSubstr;

Operand at(Place place, int64_t offset, int64_t bytes) {
  return {.place = place,
          .offset = offset,
          .index = place == Place::kArena ? -1 : 0,
          .tensor = {DataType::kU8, {{.constant = bytes}}}};
}

// What is said of a step that reads `inputs`, writes `outputs` and works in `workspace`.
std::string verdictOn(std::vector<Operand> inputs, std::vector<Operand> outputs,
                      Operand workspace = {}, StepKind kind = StepKind::kKernel) {
  Step step{.kind = kind, .name = "sort"};
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.workspace = std::move(workspace);
  try {
    requireApart(step);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidEngine);
    return error.message();
  }
  return "";
}

constexpr Place kArena = Place::kArena;

TEST(Overlaps, OperandsApartAreFine) {
  EXPECT_EQ(verdictOn({at(kArena, 0, 64)}, {at(kArena, 64, 64)}, at(kArena, 128, 64)), "");
  EXPECT_EQ(verdictOn({at(kArena, 128, 64)}, {at(kArena, 64, 64)}, at(kArena, 0, 64)), "");
  // What is read may be read twice, and what has no bytes is nowhere.
  EXPECT_EQ(verdictOn({at(kArena, 0, 64), at(kArena, 32, 64)}, {at(kArena, 128, 8)}), "");
  EXPECT_EQ(verdictOn({at(kArena, 0, 64)}, {at(kArena, 0, 0)}), "");
  // The same offset in another memory is another place.
  EXPECT_EQ(verdictOn({at(kArena, 0, 64)}, {at(Place::kHostArena, 0, 64)}), "");
  EXPECT_EQ(verdictOn({at(Place::kWeights, 0, 64)}, {at(kArena, 0, 64)}), "");
}

TEST(Overlaps, WhatAStepWritesIsNoOtherOperands) {
  const char* const said = "layer 'sort' writes to memory that another operand of it lies in";
  EXPECT_THAT(verdictOn({at(kArena, 0, 65)}, {at(kArena, 64, 64)}), HasSubstr(said));
  EXPECT_THAT(verdictOn({at(kArena, 64, 8)}, {at(kArena, 0, 256)}), HasSubstr(said));
  EXPECT_THAT(verdictOn({}, {at(kArena, 0, 64), at(kArena, 0, 64)}), HasSubstr(said));
  EXPECT_THAT(verdictOn({}, {at(kArena, 0, 128)}, at(kArena, 64, 64)), HasSubstr(said));
  EXPECT_THAT(verdictOn({at(kArena, 0, 8)}, {}, at(kArena, 0, 64)), HasSubstr(said));
  // An input between two extents that end beyond it.
  EXPECT_THAT(verdictOn({at(kArena, 0, 512), at(kArena, 64, 8)}, {at(kArena, 128, 8)}),
              HasSubstr(said));
  // Buffers with an index are taken whole, whatever they hold.
  EXPECT_THAT(verdictOn({at(Place::kDynamic, 0, 8)}, {at(Place::kDynamic, 0, 8)}), HasSubstr(said));
  EXPECT_THAT(verdictOn({}, {at(Place::kOutput, 0, 8), at(Place::kOutput, 0, 8)}), HasSubstr(said));
}

TEST(Overlaps, ResultsOfKernelsMayLieOnAnInput) {
  EXPECT_EQ(verdictOn({at(kArena, 0, 64)}, {at(kArena, 0, 64)}), "");
  EXPECT_NE(verdictOn({at(kArena, 0, 128)}, {at(kArena, 0, 64)}), "");
  EXPECT_NE(verdictOn({at(kArena, 64, 64)}, {at(kArena, 0, 128)}), "");
  EXPECT_NE(verdictOn({at(kArena, 0, 64)}, {}, at(kArena, 0, 64)), "");  // never a workspace
  EXPECT_NE(verdictOn({at(kArena, 0, 64)}, {at(kArena, 0, 64)}, {}, StepKind::kIf), "");
}

TEST(Overlaps, SizesThatARunDecidesAreLookedAtThen) {
  Step step{.name = "sort"};
  step.inputs = {at(kArena, 0, 64)};
  step.outputs = {{.place = kArena, .offset = 32, .tensor = {DataType::kU8, {{.slot = 0}}}}};
  EXPECT_NO_THROW(requireApart(step));
  const int64_t bytes[] = {64, 16, 0};
  EXPECT_THROW(requireApart(step, bytes), Error);
  const int64_t smaller[] = {32, 16, 0};
  EXPECT_NO_THROW(requireApart(step, smaller));
}

// What is said of an engine with inputs "a" and "b" and outputs "y" and "z", of which "y" may be
// "a" in place, at the ranges given in this order.
std::string verdictOnTensors(std::vector<MemoryRange> ranges) {
  Plan plan;
  plan.inputs = {{.name = "a"}, {.name = "b"}};
  plan.outputs = {{.name = "y", .aliasedInput = 0}, {.name = "z"}};
  const CallersMemory memory{{ranges[0], ranges[1]}, {ranges[2], ranges[3]}};
  std::vector<std::string> said;
  for (size_t output : {0, 1}) {
    try {
      requireApart(plan, memory, output);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      said.push_back(error.message());
    }
  }
  return said.empty() ? "" : said[0];
}

TEST(Overlaps, OutputsOfCallersHaveMemoryOfTheirOwn) {
  EXPECT_EQ(verdictOnTensors({{64, 128}, {128, 192}, {192, 256}, {0, 64}}), "");
  EXPECT_EQ(verdictOnTensors({{0, 64}, {0, 64}, {64, 128}, {128, 192}}), "") << "read twice";
  EXPECT_EQ(verdictOnTensors({{0, 0}, {0, 64}, {64, 128}, {32, 32}}), "") << "nothing is nowhere";
  EXPECT_THAT(verdictOnTensors({{0, 64}, {64, 128}, {128, 192}, {96, 160}}),
              HasSubstr("outputs 'y' and 'z' lie on the same memory"));
  EXPECT_THAT(verdictOnTensors({{0, 64}, {64, 128}, {128, 192}, {127, 128}}),
              HasSubstr("output 'z' lies on memory of input 'b', which the engine does not"));
}

TEST(Overlaps, OutputsMayTakeThePlaceOfTheirInputs) {
  EXPECT_EQ(verdictOnTensors({{0, 64}, {64, 128}, {0, 64}, {128, 192}}), "");
  EXPECT_THAT(verdictOnTensors({{0, 64}, {64, 128}, {16, 80}, {128, 192}}),
              HasSubstr("output 'y' lies on memory of input 'a', which it may take the place of"));
  EXPECT_THAT(verdictOnTensors({{0, 64}, {0, 64}, {0, 64}, {128, 192}}),
              HasSubstr("output 'y' lies on memory of input 'b', which the engine does not"));
  EXPECT_THAT(verdictOnTensors({{0, 64}, {64, 128}, {128, 192}, {0, 64}}),
              HasSubstr("output 'z' lies on memory of input 'a', which the engine does not"));
}

}  // namespace
}  // namespace camshaft
