#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

HarnessCase deformColumns(const std::string& type, const std::string& groups, bool masked) {
  return {
      .graph = "symbols n, h graph g(%x: " + type + "[n, 36, h, 9], %a: " + type + "[n, " + groups +
               "*12, floordiv(h + 1, 2), 7]" +
               (masked ? ", %m: " + type + "[n, " + groups + "*6, floordiv(h + 1, 2), 7]" : "") +
               ") { %y = DeformColumns(%x, %a" + (masked ? ", %m" : "") +
               ") {kernel = [3, 2], strides = [2, 1], dilations = [1, 3], pads_begin = [1, 0], "
               "pads_end = [1, 1], groups = " +
               groups + "} return %y }",
      .sizes = {{{"n", 1}, {"h", 5}}, {{"n", 2}, {"h", 4}}},
      .ranges = {{"a", {-3, 3}}}};
}

TEST(DeformColumnsKernels, OffsetsGroupsAndMasks) {
  for (const char* groups : {"1", "3"})
    for (const bool masked : {false, true})
      expectKernelsMatch(deformColumns("f32", groups, masked));
  expectKernelsMatch(deformColumns("f16", "2", true));
}

TEST(FoldColumnsKernels, StridesDilationsPadsAndRanks) {
  expectKernelsMatch(
      "symbols n graph g(%x: f32[n, 18, 20]) { %y = FoldColumns(%x) {sizes = [9, 6], kernel = [3, "
      "2], strides = [2, 1], dilations = [1, 2], pads_begin = [0, 0], pads_end = [1, 1]} return %y "
      "}",
      {{{"n", 1}}, {{"n", 3}}});
  expectKernelsMatch(
      "graph g(%x: i32[2, 6, 5]) { %y = FoldColumns(%x) {sizes = [4], kernel = [2], strides = [1], "
      "dilations = [1], pads_begin = [1], pads_end = [1]} return %y }");
  expectKernelsMatch(
      "graph g(%x: f16[1, 8, 8]) { %y = FoldColumns(%x) {sizes = [3, 3, 3], kernel = [2, 2, 2], "
      "strides = [1, 1, 1], dilations = [1, 1, 1], pads_begin = [0, 0, 0], pads_end = [0, 0, 0]} "
      "return %y }");
}

}  // namespace
}  // namespace camshaft::cuda
