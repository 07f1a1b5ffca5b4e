#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

using Sizes = std::vector<std::map<std::string, int64_t>>;

TEST(LayerNorm, WithAndWithoutScaleAndBias) {
  const Sizes sizes = {{{"n", 1}}, {{"n", 3}}, {{"n", 77}}};
  for (const char* attributes : {"axis = 2", "axis = 2, rms = true, epsilon = 1e-6"})
    for (int64_t size : {1, 7, 16, 129, 768}) {
      const std::string width = std::to_string(size);
      const std::string inputs = "symbols n graph g(%x: f32[2, n, " + width + "], %s: f32[" +
                                 width + "], %b: f32[" + width + "]) { %y = LayerNorm(";
      for (const char* operands : {"%x", "%x, %s", "%x, %s, %b", "%x, _, %b"})
        expectKernelsMatch(inputs + operands + ") {" + attributes + "} return %y }", sizes);
    }
}

TEST(LayerNorm, SeveralDimensionsAndLargeMeans) {
  expectKernelsMatch({.graph = "graph g(%x: f32[5, 3, 70], %s: f32[3, 70]) { %y = LayerNorm(%x, "
                               "%s) {axis = 1} return %y }",
                      .ranges = {{"x", {100, 101}}},
                      .tolerance = 1e-4});
  EXPECT_NE(
      refusalsOf(
          "graph g(%x: f32[5, 3, 7], %s: f32[7]) { %y = LayerNorm(%x, %s) {axis = 1} return %y }")
          .find("shaped like the normalised dimensions"),
      std::string::npos);
}

TEST(GroupNorm, BothLayouts) {
  const Sizes sizes = {{{"n", 1}, {"h", 1}}, {{"n", 2}, {"h", 7}}, {{"n", 1}, {"h", 40}}};
  for (const char* groups : {"0", "1", "2", "6", "12"}) {
    const std::string attributes = std::string("{groups = ") + groups;
    expectKernelsMatch(
        "symbols n, h graph g(%x: f32[n, 12, h, 5], %s: f32[12], %b: f32[12]) { %y = GroupNorm(%x, "
        "%s, %b) " +
            attributes + "} return %y }",
        sizes);
    expectKernelsMatch(
        "symbols n, h graph g(%x: f32[n, h, 5, 12], %s: f32[12], %b: f32[12]) { %y = GroupNorm(%x, "
        "%s, %b) " +
            attributes + ", channels_last = true} return %y }",
        sizes);
  }
  for (const char* groups : {"1", "2", "32", "160"})
    expectKernelsMatch(std::string("symbols n, h graph g(%x: f32[n, h, h, 160]) { %y = "
                                   "GroupNorm(%x) {channels_last = true, groups = ") +
                           groups + "} return %y }",
                       sizes);
}

TEST(Lrn, WindowsAndExponents) {
  const Sizes sizes = {{{"n", 1}, {"h", 1}}, {{"n", 2}, {"h", 13}}, {{"n", 0}, {"h", 4}}};
  for (const char* size : {"1", "2", "5", "40"})
    for (const char* beta : {"0.75", "0.5", "1", "0.6", "2"})
      expectKernelsMatch(std::string("symbols n, h graph g(%x: f32[n, 11, h, 5]) { %y = Lrn(%x) "
                                     "{size = ") +
                             size + ", alpha = 0.3, bias = 2, beta = " + beta + "} return %y }",
                         sizes);
  expectKernelsMatch("graph g(%x: f32[3, 70]) { %y = Lrn(%x) {size = 5, bias = 1.5} return %y }");
}

TEST(Lrn, ValuesThatAreNoNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const char* beta : {"0.75", "0.6"})
    expectKernelsMatch({.graph = std::string("graph g(%x: f32[1, 5, 7]) { %y = Lrn(%x) {size = 3, "
                                             "alpha = 1, bias = 0, beta = ") +
                                 beta + "} return %y }",
                        .values = {{"x", {1, 0, inf, std::nan(""), -inf, -2, 0, 0, 3, 1, 5}}}});
}

TEST(Lrn, SaysWhatItDoesNotDo) {
  EXPECT_THAT(
      refusalsOf("graph g(%x: f32[1, 4, 4]) { %y = Lrn(%x) {size = 3, bias = -1} return %y }"),
      testing::HasSubstr("cpu/lrn_f32: no negative bias, alpha or beta"));
  EXPECT_THAT(refusalsOf("graph g(%x: f16[1, 4, 4]) { %y = Lrn(%x) {size = 3} return %y }"),
              testing::HasSubstr("cpu/lrn_f32: only f32"));
}

}  // namespace
}  // namespace camshaft::cpu
