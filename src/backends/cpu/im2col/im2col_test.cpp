#include <gtest/gtest.h>

#include <limits>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

HarnessCase deformColumns(const std::string& groups, const std::string& mask) {
  return {.graph = "symbols n, h graph g(%x: f32[n, 6, h, 73], %a: f32[n, " + groups +
                   "*12, floordiv(h + 1, 2), 71]" +
                   (mask.empty() ? "" : ", %m: f32[n, " + groups + "*6, floordiv(h + 1, 2), 71]") +
                   ") { %y = DeformColumns(%x, %a" + mask +
                   ") {kernel = [3, 2], strides = [2, 1], dilations = [1, 3], pads_begin = [1, 0], "
                   "pads_end = [1, 1], groups = " +
                   groups + "} return %y }",
          .sizes = {{{"n", 1}, {"h", 5}}, {{"n", 2}, {"h", 4}}},
          .ranges = {{"a", {-3, 3}}}};
}

TEST(DeformColumnsKernels, OffsetsGroupsAndMasks) {
  for (const char* groups : {"1", "3"})
    for (const char* mask : {"", ", %m"}) expectKernelsMatch(deformColumns(groups, mask));
}

TEST(DeformColumnsKernels, WhatLiesOutsideIsNotTheFirstPixel) {
  HarnessCase infinite = deformColumns("1", "");
  infinite.values["x"] = {std::numeric_limits<double>::infinity(), 1, 2, 3, 4};
  infinite.ranges["a"] = {-9, 9};
  expectKernelsMatch(infinite);
}

}  // namespace
}  // namespace camshaft::cpu
