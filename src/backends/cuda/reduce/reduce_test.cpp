#include <gtest/gtest.h>

#include <cmath>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

std::string reduceOf(std::string_view type, std::string_view kind, std::string_view axes) {
  return str("symbols n, h graph g(%x: ", type, "[n, 4, h, 6]) { %y = Reduce(%x) {kind = ", kind,
             ", axes = [", axes, "]} return %y }");
}

TEST(CudaReduce, EachKindOverEachAxis) {
  for (const char* kind :
       {"sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"})
    for (const char* axes : {"3", "0, 2"})
      expectKernelsMatch({.graph = reduceOf("f32", kind, axes),
                          .sizes = {{{"n", 3}, {"h", 5}}, {{"n", 1}, {"h", 40}}},
                          .ranges = {{"x", {0.5, 1.5}}},
                          .tolerance = 1e-4});
  for (const char* axes : {"1", "1, 3", "0, 1, 3", "0, 1, 2, 3"})
    expectKernelsMatch(reduceOf("f32", "mean", axes),
                       {{{"n", 3}, {"h", 5}}, {{"n", 1}, {"h", 40}}});
}

TEST(CudaReduce, EachType) {
  const auto expectMatch = [](const char* type, const char* kind, const char* axes) {
    expectKernelsMatch({.graph = reduceOf(type, kind, axes),
                        .sizes = {{{"n", 3}, {"h", 5}}},
                        .ranges = {{"x", {1, 5}}}});
  };
  for (const char* type : {"f16", "bf16", "f64", "i8", "i32", "i64", "u8", "u64"}) {
    expectMatch(type, "mean", "3");
    expectMatch(type, "max", "0, 1");
  }
  for (const char* kind : {"min", "prod", "l1", "l2", "log_sum", "log_sum_exp"})
    expectMatch("i32", kind, "3");
  expectKernelsMatch(reduceOf("bool", "max", "2"), {{{"n", 3}, {"h", 5}}});
}

TEST(CudaReduce, NothingAndEverything) {
  expectKernelsMatch(reduceOf("f32", "l1", ""), {{{"n", 3}, {"h", 5}}});
  for (const char* kind : {"max", "prod", "log_sum_exp", "mean"})
    expectKernelsMatch(reduceOf("f32", kind, "0, 3"), {{{"n", 0}, {"h", 5}}});
  expectKernelsMatch(reduceOf("f32", "sum", "1"), {{{"n", 0}, {"h", 5}}});
  expectKernelsMatch(
      "graph g(%x: f16[100003]) { %y = Reduce(%x) {kind = mean, axes = [0], "
      "keep_dims = false} return %y }");
}

TEST(CudaReduce, InfinitiesAndNan) {
  for (const char* kind : {"max", "min", "log_sum_exp"})
    for (const char* axes : {"0", "1"})
      expectKernelsMatch({.graph = str("graph g(%x: f32[8, 8]) { %y = Reduce(%x) {kind = ", kind,
                                       ", axes = [", axes, "]} return %y }"),
                          .values = {{"x", {1, 2, -INFINITY, 3, 4, INFINITY, 5, NAN, -INFINITY}}}});
}

TEST(CudaReduce, SpatialMeanOfChannelsLast) {
  for (const char* type : {"f16", "f32"})
    for (int channels : {2048, 7, 36})
      expectKernelsMatch(str("symbols n graph g(%x: ", type, "[n, 7, 7, ", channels,
                             "], %b: ", type, "[", channels,
                             "]) { %y = Reduce(%x) {kind = mean, axes = [1, 2], "
                             "keep_dims = false} epilogue(%b) {relu(add(x0:",
                             type, ", x1:", type, "))} return %y }"),
                         {{{"n", 1}}, {{"n", 3}}});
}

// By blocks of a cluster too, the last of which may have nothing to add.
TEST(CudaReduce, ManyElementsOfFewResults) {
  for (const char* kind : {"mean", "log_sum_exp", "max"})
    for (const char* size : {"1, 50, 60, 24", "3, 47, 45, 9", "2, 2048, 1, 40"})
      expectKernelsMatch(str("graph g(%x: f16[", size, "]) { %y = Reduce(%x) {kind = ", kind,
                             ", axes = [1, 2]} return %y }"));
  expectKernelsMatch("graph g(%x: f32[5, 2500]) { %y = ArgReduce(%x) {axis = 1} return %y }");
  expectKernelsMatch("graph g(%x: i8[2500, 5]) { %y = ArgReduce(%x) {axis = 0} return %y }");
}

TEST(CudaArgReduce, EachAxisAndType) {
  for (const char* type : {"f32", "f16", "i32", "u8", "i64"})
    for (const char* attributes : {"axis = 0", "axis = 1, largest = false", "axis = 2",
                                   "axis = 1, select_last = true", "axis = 2, select_last = true"})
      expectKernelsMatch(
          {.graph = str("symbols t graph g(%x: ", type, "[3, t, 8]) { %y = ArgReduce(%x) {",
                        attributes, "} return %y }"),
           .sizes = {{{"t", 5}}, {{"t", 300}}},
           .ranges = {{"x", {0, 9}}}});
}

TEST(CudaArgReduce, EqualElementsAndNan) {
  for (const char* attributes : {"axis = 0", "axis = 1", "axis = 1, select_last = true"})
    expectKernelsMatch({.graph = str("graph g(%x: f32[9, 33]) { %y = ArgReduce(%x) {", attributes,
                                     "} return %y }"),
                        .values = {{"x", {3, 1, NAN, 3, 0, 2, 3}}}});
}

TEST(CudaCumSum, EachDirection) {
  for (const char* attributes : {"", ", exclusive = true", ", reverse = true",
                                 ", exclusive = true, reverse = true", ", product = true"})
    for (int axis : {0, 1, 2})
      expectKernelsMatch(
          {.graph = str("symbols t graph g(%x: f32[3, 2, t]) { %y = CumSum(%x) {axis = ", axis,
                        attributes, "} return %y }"),
           .sizes = {{{"t", 1}}, {{"t", 5}}, {{"t", 700}}},
           .ranges = {{"x", {0.99, 1.01}}},
           .tolerance = 1e-4});
  for (const char* type : {"i64", "i32", "f16", "f64"})
    expectKernelsMatch(
        str("graph g(%x: ", type, "[4, 200]) { %y = CumSum(%x) {axis = 1} return %y }"));
}

}  // namespace
}  // namespace camshaft::cuda
