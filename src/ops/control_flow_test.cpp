#include "ops/control_flow.h"

#include "testing/graph_text.h"

namespace camshaft {
namespace {

using testing::expectValues;
using ::testing::HasSubstr;
using testing::parseBody;
using testing::refusalOf;

// Sums the iterations' numbers until the sum is `limit`, and lists the sums.
std::string countingLoop(const std::string& trips, const std::string& condition, int limit) {
  return str("%limit: i64[] = constant [", limit, R"(]
%zero: i64[] = constant [0]
)",
             trips, condition, R"(
%sum, %sums = Loop()",
             trips.empty() ? "_" : "%trips", ", ", condition.empty() ? "_" : "%go",
             R"(, %zero, %limit) {body = {
  graph body(%i: i64[], %c: bool[], %sum: i64[], %limit: i64[]) {
    %next = Pointwise(%sum, %i) {expr = add(x0:i64, x1:i64)}
    %more = Pointwise(%next, %limit) {expr = less(x0:i64, x1:i64)}
    return %more as "go", %next as "sum", %next as "scan"
  }}, carried = 1, sizes = [t], symbols = [t]}
return %sum as "sum", %sums as "sums")");
}

TEST(Loop, RunsUntilItsTripCountOrCondition) {
  const std::string six = "%trips: i64[] = constant [6]\n";
  const std::string stopped = "%go: bool[] = constant [0]\n";
  expectValues(countingLoop(six, "", 100), {{15}, {0, 1, 3, 6, 10, 15}});
  expectValues(countingLoop(six, "", 4), {{6}, {0, 1, 3, 6}});
  expectValues(countingLoop("", "", 4), {{6}, {0, 1, 3, 6}});
  expectValues(countingLoop(six, stopped, 4), {{0}, {}});
  expectValues(countingLoop("%trips: i64[] = constant [0]\n", "", 4), {{0}, {}});
  expectValues(countingLoop("%trips: i64[] = constant [-3]\n", "", 4), {{0}, {}});
}

TEST(Loop, CarriedValuesMayGrow) {
  expectValues(R"(%trips: i64[] = constant [3]
%empty: f32[0] = constant []
%x: f32[2] = constant [1, 2]
%all = Loop(%trips, _, %empty, %x) {body = {
  symbols m
  graph body(%i: i64[], %c: bool[], %all: f32[m], %x: f32[2]) {
    %f = Pointwise(%i, %x) {expr = add(cast(x0:i64, f32), x1:f32)}
    %next = Concat(%all, %f) {axis = 0}
    return %c as "go", %next as "all"
  }}, carried = 1, sizes = [s], symbols = [s]}
%twice = Pointwise(%all) {expr = add(x0:f32, x0:f32)}
return %twice)",
               {{2, 4, 4, 6, 6, 8}});
}

constexpr std::string_view kIf = R"(%y = If(%c, %x, %x) {then = {
  symbols n
  graph yes(%x: f32[n]) {
    %a = Pointwise(%x) {expr = neg(x0:f32)}
    return %a
  }}, else = {
  symbols n
  graph no(%x: f32[n]) {
    %b = Slice(%x) {axes = [0], starts = [0], sizes = [1], steps = [1]}
    return %b
  }}, sizes = [s], symbols = [s]}
%z = Pointwise(%y, %y) {expr = mul(x0:f32, x1:f32)}
return %y as "y", %z as "z")";

TEST(If, TakesOneBranchWithItsSizes) {
  const std::string x = "%x: f32[3] = constant [1, 2, 3]\n";
  expectValues(str(x, "%c: bool[] = constant [1]\n", kIf), {{-1, -2, -3}, {1, 4, 9}});
  expectValues(str(x, "%c: bool[] = constant [0]\n", kIf), {{1}, {1}});
}

TEST(If, TextFormIsLossless) {
  const Graph graph = parseBody(std::string(kIf), "%x: f32[n], %c: bool[]");
  verify(graph, "parsing");
  const std::string text = toText(graph, true);
  EXPECT_EQ(toText(parseGraph(text, findOp), true), text);
  EXPECT_EQ(toText(graph.clone(), true), text);
}

TEST(ControlFlow, WhatDoesNotFitTheBodyIsRefused) {
  const auto loopOver = [](const std::string& inputs, const std::string& attributes) {
    return refusalOf("%x: f32[n], %c: bool[], %m: i64[]", str("%y = Loop(", inputs, R"() {body = {
  graph body(%i: i64[], %c: bool[], %a: f32[4]) {
    return %c as "go", %a as "a"
  }}, )",
                                                              attributes, "} return %y"));
  };
  EXPECT_EQ(loopOver("%m, %c, %x", "carried = 1, sizes = [4]"), "");
  EXPECT_THAT(loopOver("%m, %c", "carried = 1, sizes = [4]"), HasSubstr("does not fit its body"));
  EXPECT_THAT(loopOver("%c, %c, %x", "carried = 1, sizes = [4]"), HasSubstr("needs a trip count"));
  EXPECT_THAT(loopOver("%m, %c, %m", "carried = 1, sizes = [4]"),
              HasSubstr("gives its body i64[] for 'a'"));
  EXPECT_THAT(loopOver("%m, %c, %x", "carried = 1, sizes = [4, 4]"), HasSubstr("records 2 sizes"));
  EXPECT_THAT(refusalOf("%c: bool[]", "%y = If(%c) {sizes = []} return %y"),
              HasSubstr("lacks its then branch"));
}

TEST(ControlFlow, OuterDimsLeaveOutWhatChanges) {
  const Graph graph = parseBody(R"(%trips: i64[] = constant [3]
%all, %same = Loop(%trips, _, %x, %x, %y) {body = {
  symbols a, b, k
  graph body(%i: i64[], %c: bool[], %all: f32[a], %same: f32[b], %y: f32[k]) {
    %next = Concat(%all, %y) {axis = 0}
    %double = Pointwise(%same) {expr = add(x0:f32, x0:f32)}
    return %c as "go", %next as "all", %double as "same"
  }}, carried = 2, sizes = [s, n], symbols = [s]}
return %all as "all", %same as "same")",
                                "%x: f32[n], %y: f32[m]");
  const auto outer = outerDims(*graph.nodes().front(), 0);
  EXPECT_EQ(outer.size(), 2u);
  EXPECT_EQ(outer.at("b"), Dim::symbol("n"));
  EXPECT_EQ(outer.at("k"), Dim::symbol("m"));
}

}  // namespace
}  // namespace camshaft
