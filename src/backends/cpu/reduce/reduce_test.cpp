#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

using Sizes = std::vector<std::map<std::string, int64_t>>;
const Sizes kSizes = {
    {{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 5}}, {{"n", 37}, {"m", 70}}, {{"n", 9}, {"m", 600}}};

std::string reduction(const std::string& shape, const std::string& attributes) {
  return "symbols n, m graph g(%x: f32" + shape + ") { %y = Reduce(%x) {" + attributes +
         "} return %y }";
}

TEST(Reduce, EveryKindAndPlaceOfAxes) {
  for (const char* kind : {"sum", "mean", "max", "min", "l1", "l2", "sum_square"})
    for (const char* axes : {"[]", "[0]", "[1]", "[2]", "[3]", "[1, 2]", "[0, 2]", "[1, 3]",
                             "[2, 3]", "[0, 1, 2, 3]", "[0, 3]"})
      expectKernelsMatch(
          reduction("[2, n, 3, m]", std::string("kind = ") + kind + ", axes = " + axes), kSizes);
}

TEST(Reduce, ProductAndLogSum) {
  for (const char* kind : {"prod", "log_sum"})
    for (const char* axes : {"[0]", "[1]"})
      expectKernelsMatch(
          {.graph = reduction("[n, m]", std::string("kind = ") + kind + ", axes = " + axes),
           .sizes = kSizes,
           .ranges = {{"x", {0.9, 1.1}}},
           .tolerance = 1e-4});
}

TEST(Reduce, LongSumsStayExact) {
  for (const char* axes : {"[0]", "[1]", "[0, 1]"})
    expectKernelsMatch(
        {.graph =
             reduction("[n, m]", std::string("keep_dims = false, kind = mean, axes = ") + axes),
         .sizes = {{{"n", 3}, {"m", 200000}}, {{"n", 200000}, {"m", 3}}},
         .ranges = {{"x", {100, 101}}},
         .tolerance = 1e-6});
}

// Parts of the rows, where there are fewer blocks of columns than threads.
TEST(Reduce, ManyRowsOfFewColumns) {
  for (const char* kind : {"mean", "max", "l2"})
    for (const char* axes : {"[0]", "[0, 2]", "[2]"})
      expectKernelsMatch(
          {.graph = reduction("[n, 2, 90, m]", std::string("keep_dims = false, kind = ") + kind +
                                                   ", axes = " + axes),
           .sizes = {{{"n", 70}, {"m", 24}}, {{"n", 301}, {"m", 67}}},
           .tolerance = 1e-6});
}

TEST(Reduce, Empty) {
  for (const char* kind : {"sum", "max", "mean"})
    expectKernelsMatch(reduction("[n, m]", std::string("kind = ") + kind + ", axes = [1]"),
                       {{{"n", 4}, {"m", 0}}});
}

TEST(Reduce, ArgReduce) {
  for (const char* type :
       {"largest = true", "largest = false", "largest = true, select_last = true"})
    for (const char* axis : {"0", "1", "2"})
      expectKernelsMatch(
          {.graph = std::string("symbols n, m graph g(%x: f32[2, n, m]) { %y = ArgReduce(%x) {") +
                    type + ", axis = " + axis + "} return %y }",
           .sizes = kSizes});
}

TEST(CumSum, EveryWayAlongEveryDimension) {
  for (const char* type : {"f32", "i32", "i64"})
    for (const char* axis : {"0", "1", "2"})
      for (const char* way : {"", ", exclusive = true", ", reverse = true",
                              ", exclusive = true, reverse = true", ", product = true"})
        expectKernelsMatch(
            {.graph = str("symbols n, m graph g(%x: ", type,
                          "[2, n, m]) { %y = CumSum(%x) {axis = ", axis, way, "} return %y }"),
             .sizes = kSizes,
             .ranges = {{"x", {-1, 1}}}});
  expectKernelsMatch("symbols n graph g(%x: f32[n, 3]) { %y = CumSum(%x) {axis = 0} return %y }",
                     {{{"n", 0}}, {{"n", 1}}});
}

TEST(CumSum, LongSumsStayExactAndIntegersWrapAround) {
  expectKernelsMatch({.graph = "graph g(%x: f32[200000]) { %y = CumSum(%x) {axis = 0} return %y }",
                      .ranges = {{"x", {100, 101}}},
                      .tolerance = 1e-6});
  expectKernelsMatch({.graph = "graph g(%x: i32[7]) { %y = CumSum(%x) {axis = 0} return %y }",
                      .values = {{"x", {2147483647, 5, -3}}}});
}

TEST(CumSum, SaysWhatItDoesNotDo) {
  EXPECT_NE(refusalsOf("graph g(%x: f16[9]) { %y = CumSum(%x) {axis = 0} return %y }")
                .find("cpu/cumsum: only f32, i32 and i64"),
            std::string::npos);
}

TEST(Reduce, SaysWhatItDoesNotDo) {
  EXPECT_NE(
      refusalsOf("graph g(%x: i32[9]) { %y = Reduce(%x) {axes = [0]} return %y }").find("only f32"),
      std::string::npos);
}

}  // namespace
}  // namespace camshaft::cpu
