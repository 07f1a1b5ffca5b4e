#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

using ::testing::HasSubstr;

TEST(IndexKernels, GatherRowsAndElements) {
  expectKernelsMatch(HarnessCase{
      .graph = "symbols n graph g(%x: f16[50, 24], %i: i64[n, 7], %b: f16[24]) {"
               "  %y = Gather(%x, %i) {axis = 0} epilogue(%b) {add(x0:f16, x1:f16)} return %y }",
      .sizes = {{{"n", 6}}, {{"n", 0}}},
      .ranges = {{"i", {-50, 49}}}});
  expectKernelsMatch(HarnessCase{.graph = "symbols n, t graph g(%x: f32[5, n, 4], %i: i32[n, t]) {"
                                          "  %y = Gather(%x, %i) {axis = 2} return %y }",
                                 .sizes = {{{"n", 2}, {"t", 3}}},
                                 .ranges = {{"i", {0, 3}}}});
  expectKernelsMatch(HarnessCase{.graph = "symbols n graph g(%x: f32[5, n], %i: i64[2, n]) {"
                                          "  %y = GatherElements(%x, %i) {axis = 0} return %y }",
                                 .sizes = {{{"n", 300}}},
                                 .ranges = {{"i", {-5, 4}}}});
  expectKernelsMatch(HarnessCase{
      .graph =
          "symbols t graph g(%x: bool[3, 4, 8], %i: i64[t, 2]) { %y = GatherND(%x, %i) return %y }",
      .sizes = {{{"t", 9}}},
      .ranges = {{"i", {-3, 2}}}});
  expectKernelsMatch(HarnessCase{.graph = "symbols n graph g(%x: f32[n, 3, 4], %i: i64[n, 2, 1]) {"
                                          "  %y = GatherND(%x, %i) {batch_dims = 1} return %y }",
                                 .sizes = {{{"n", 5}}},
                                 .ranges = {{"i", {0, 2}}}});
}

TEST(IndexKernels, ReverseSequence) {
  expectKernelsMatch(HarnessCase{
      .graph = "symbols n, t graph g(%x: f32[t, n, 2], %l: i64[n]) {"
               "  %y = ReverseSequence(%x, %l) {batch_axis = 1, time_axis = 0} return %y }",
      .sizes = {{{"n", 3}, {"t", 4}}},
      .values = {{"l", {1, 4, 2}}}});
  expectKernelsMatch(HarnessCase{
      .graph = "graph g(%x: i16[2, 3, 5], %l: i32[2]) {"
               "  %y = ReverseSequence(%x, %l) {batch_axis = 0, time_axis = 2} return %y }",
      .values = {{"l", {5, 0}}}});
}

TEST(IndexKernels, OneHotAlongAnyAxis) {
  for (const char* attributes :
       {"axis = 2, depth = 4", "axis = 0, depth = n", "axis = 1, depth = 8"})
    expectKernelsMatch(
        HarnessCase{.graph = std::string("symbols n graph g(%i: i64[n, 2], %v: f16[2]) {"
                                         "  %y = OneHot(%i, %v) {") +
                             attributes + "} return %y }",
                    .sizes = {{{"n", 3}}},
                    .ranges = {{"i", {-5, 9}}}});
}

// Duplicates: the last update wins.
TEST(IndexKernels, ScatterReplaces) {
  expectKernelsMatch(
      HarnessCase{.graph = "symbols n graph g(%x: f32[n, 7], %i: i64[30, 7], %u: f32[30, 7]) {"
                           "  %y = ScatterElements(%x, %i, %u) {axis = 0} return %y }",
                  .sizes = {{{"n", 6}}, {{"n", 700}}},
                  .ranges = {{"i", {-6, 5}}}});
  expectKernelsMatch(HarnessCase{
      .graph = "symbols n graph g(%x: f16[n, 3, 40], %i: i64[9, 2], %u: f16[9, 40], %b: f16[40]) {"
               "  %y = ScatterND(%x, %i, %u) epilogue(%b) {add(x0:f16, x1:f16)} return %y }",
      .sizes = {{{"n", 4}}},
      .ranges = {{"i", {-3, 2}}}});
}

TEST(IndexKernels, ScatterCombinesElements) {
  const std::pair<std::string, std::string> cases[] = {
      {"add", "f32"},  {"add", "f16"}, {"add", "i8"},  {"mul", "f64"}, {"mul", "u16"},
      {"min", "bf16"}, {"min", "i64"}, {"max", "u64"}, {"max", "f32"}};
  for (const auto& [reduction, type] : cases)
    expectKernelsMatch(HarnessCase{
        .graph = "graph g(%x: " + type + "[5, 7], %i: i64[20, 3], %u: " + type + "[20, 3]) {" +
                 "  %y = ScatterElements(%x, %i, %u) {axis = 0, reduction = " + reduction +
                 "} return %y }",
        .ranges = {{"i", {-5, 4}}, {"x", {1, 2}}, {"u", {1, 2}}}});
}

TEST(IndexKernels, ScatterCombinesRows) {
  for (const std::string reduction : {"add", "max"})
    expectKernelsMatch(HarnessCase{
        .graph =
            "symbols n graph g(%x: f32[n, 300], %i: i32[9, 1], %u: f32[9, 300], %b: f32[300]) {"
            "  %y = ScatterND(%x, %i, %u) {reduction = " +
            reduction + "} epilogue(%b) {mul(x0:f32, x1:f32)} return %y }",
        .sizes = {{{"n", 4}}},
        .ranges = {{"i", {0, 3}}}});
}

// More than the threads of a block, whose sum is another in another order.
TEST(IndexKernels, ScatterAddsInOrder) {
  const std::vector<double> updates = {1e8, 3, -1e8, 0.7, 5e7, -2, 11};
  expectKernelsMatch(HarnessCase{
      .graph = "symbols n graph g(%x: f32[2], %i: i64[n], %u: f32[n]) { %y = ScatterElements(%x, "
               "%i, %u) {axis = 0, reduction = add} return %y }",
      .sizes = {{{"n", 3000}}, {{"n", 1}}},
      .ranges = {{"i", {0, 1}}},
      .values = {{"u", updates}},
      .tolerance = 0});
  expectKernelsMatch(HarnessCase{
      .graph = "symbols n graph g(%x: f32[3, 50], %i: i64[n, 1], %u: f32[n, 50]) { %y = "
               "ScatterND(%x, %i, %u) {reduction = add} return %y }",
      .sizes = {{{"n", 1500}}},
      .ranges = {{"i", {0, 2}}},
      .values = {{"u", updates}},
      .tolerance = 0});
}

TEST(IndexKernels, TopKOrdersAndBreaksTies) {
  expectKernelsMatch(HarnessCase{.graph = "symbols n graph g(%x: f32[n, 64, 3]) { %v, %i = "
                                          "TopK(%x) {axis = 1, k = 9} return %v, %i }",
                                 .sizes = {{{"n", 2}}},
                                 .values = {{"x", {3, -0.0, 0, NAN, 3, 2, -INFINITY, 5, -1}}}});
  for (const std::string type : {"bf16", "f64", "i64", "i16", "bool"})
    expectKernelsMatch(HarnessCase{
        .graph = "symbols n graph g(%x: " + type +
                 "[3, n]) {"
                 "  %v, %i = TopK(%x) {axis = 1, k = 5, largest = false} return %v, %i }",
        .sizes = {{{"n", 5}}, {{"n", 1000}}}});
  expectKernelsMatch(HarnessCase{
      .graph = "graph g(%x: f32[2, 500]) { %v, %i = TopK(%x) {axis = 1, k = 400} return %v, %i }",
      .values = {{"x", {1, 1, 1, 2}}}});
}

TEST(IndexKernels, TopKOfLongRows) {
  expectKernelsMatch(
      "symbols n graph g(%x: f32[2, n]) { %v, %i = TopK(%x) {axis = 1, k = 100} return %v, %i }",
      {{{"n", 9000}}, {{"n", 100}}});
  expectKernelsMatch(
      "symbols n, k graph g(%x: f16[2, n], %z: f16[k]) { %v, %i = TopK(%x) {axis = 1, k = k} "
      "return %v, %i }",
      {{{"n", 600}, {"k", 0}}, {{"n", 700}, {"k", 700}}});
  expectKernelsMatch(
      "symbols n graph g(%x: i32[n]) { %v, %i = TopK(%x) {axis = 0, k = n} return %v, %i }",
      {{{"n", 5000}}, {{"n", 3}}});
}

TEST(IndexKernels, RefuseWhatTheyCannotRead) {
  EXPECT_THAT(
      refusalsOf("graph g(%x: f8e4m3[9]) { %v, %i = TopK(%x) {axis = 0, k = 2} return %v, %i }"),
      HasSubstr("8-bit floats"));
}

}  // namespace
}  // namespace camshaft::cuda
