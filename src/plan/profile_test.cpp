#include "plan/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/ops.h"
#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph network() {
  return parseGraph(R"(
symbols n in [1, 32], t in [2, inf]
graph g(%x: f32[n, t, 4], %y: f32[n, 4]) {
  %s = Softmax(%x) {axis = 2}
  return %s, %y
}
)",
                    findOp);
}

std::string refusalOf(const ShapeProfile& profile) {
  std::vector<std::string> guessed;
  try {
    resolveProfile(network(), profile, guessed);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Profile, GivesSymbolsTheirRanges) {
  ShapeProfile profile;
  profile.inputs["x"] = {{1, 2, 4}, {4, 16, 4}, {8, 64, 4}};
  profile.inputs["y"] = {{2, 4}, {4, 4}, {32, 4}};
  std::vector<std::string> guessed;
  const Graph graph = network();
  const ResolvedProfile resolved = resolveProfile(graph, profile, guessed);
  EXPECT_TRUE(guessed.empty());
  EXPECT_EQ(resolved.rangeOfSymbol(graph)("n").min, 2);  // what both inputs allow
  EXPECT_EQ(resolved.rangeOfSymbol(graph)("n").max, 8);
  EXPECT_EQ(resolved.rangeOfSymbol(graph)("t").max, 64);
  EXPECT_EQ(resolved.optValue(graph)("t"), 16);
}

TEST(Profile, BoundsOfSymbolsFollowTheInputs) {
  ShapeProfile profile;
  profile.inputs["x"] = {{1, 2, 4}, {4, 16, 4}, {8, 64, 4}};
  std::vector<std::string> guessed;
  Graph graph = network();
  graph.newSymbol("k", {}, Dim::symbol("t") * 3);
  graph.newSymbol("m", {}, min(Dim::symbol("k"), 100));
  const ResolvedProfile resolved = resolveProfile(graph, profile, guessed);
  EXPECT_EQ(resolved.rangeOfSymbol(graph)("k").max, 192);
  EXPECT_EQ(resolved.rangeOfSymbol(graph)("m").max, 100);
  EXPECT_EQ(resolved.optValue(graph)("k"), 48);  // no more than at the size to optimise for
}

TEST(Profile, InputsNotMentionedFollowTheOthersOrAreGuessed) {
  ShapeProfile profile;
  profile.inputs["y"] = {{3, 4}, {5, 4}, {9, 4}};
  std::vector<std::string> guessed;
  const ResolvedProfile resolved = resolveProfile(network(), profile, guessed);
  EXPECT_THAT(guessed, ElementsAre("x"));  // for t
  EXPECT_GT(resolved.inputs[0].max[1], resolved.inputs[0].opt[1]);
  EXPECT_EQ(resolved.ranges.at("n").max, 9);
}

TEST(Profile, RefusesContradictions) {
  EXPECT_THAT(refusalOf({.inputs = {{"z", {{1}, {1}, {1}}}}}),
              HasSubstr("'z', which is not an input"));
  EXPECT_THAT(refusalOf({.inputs = {{"y", {{1}, {1}, {1}}}}}),
              HasSubstr("'y' has 1 dimensions where the input has 2"));
  EXPECT_THAT(refusalOf({.inputs = {{"y", {{4, 4}, {2, 4}, {8, 4}}}}}),
              HasSubstr("min <= opt <= max in dimension 0"));
  EXPECT_THAT(refusalOf({.inputs = {{"y", {{1, 4}, {1, 4}, {1, 5}}}}}), HasSubstr("fixed to 4"));
  EXPECT_THAT(refusalOf({.inputs = {{"y", {{-1, 4}, {1, 4}, {1, 4}}}}}), HasSubstr("0 <= min"));
  EXPECT_THAT(refusalOf({.inputs = {{"x", {{1, 1, 4}, {1, 8, 4}, {1, 9, 4}}}}}),
              HasSubstr("must be at least 2"));
  EXPECT_THAT(refusalOf({.inputs = {{"x", {{1, 2, 4}, {1, 2, 4}, {1, 2, 4}}},
                                    {"y", {{2, 4}, {2, 4}, {2, 4}}}}}),
              HasSubstr("dimension 'n' of input 'y'"));
}

}  // namespace
}  // namespace camshaft
