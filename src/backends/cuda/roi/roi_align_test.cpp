#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

// Boxes of any size and direction, some of them outside.
HarnessCase roiAlign(const std::string& type, const std::string& attributes) {
  return {.graph = "symbols n, r graph g(%x: " + type + "[n, 5, 9, 7], %a: " + type +
                   "[r, 4], %i: i64[r]) { %y = RoiAlign(%x, %a, %i) {" + attributes +
                   "} return %y }",
          .sizes = {{{"n", 3}, {"r", 5}}, {{"n", 3}, {"r", 40}}},
          .ranges = {{"a", {-8, 24}}},
          .values = {{"i", {0, 2, 1}}}};
}

TEST(RoiAlignKernels, EveryModeAndCoordinateRule) {
  for (const char* mode : {"average", "max"})
    for (const char* half : {"true", "false"})
      for (const char* ratio : {"0", "2"})
        expectKernelsMatch(
            roiAlign("f32", std::string("height = 4, width = 3, scale = 0.5, mode = ") + mode +
                                ", half_pixel = " + half + ", sampling_ratio = " + ratio));
  expectKernelsMatch(roiAlign("f64", "height = 2, width = 2"));
}

TEST(RoiAlignKernels, HalvesAndEpilogue) {
  HarnessCase testCase{
      .graph =
          "graph g(%x: f16[1, 4, 6, 6], %a: f16[3, 4], %i: i32[3], %b: f16[4, 1, 1]) { %y = "
          "RoiAlign(%x, %a, %i) {height = 2, width = 2, sampling_ratio = 2} epilogue(%b) "
          "{relu(add(x0:f16, x1:f16))} return %y }",
      .ranges = {{"a", {0, 6}}},
      .values = {{"i", {0}}}};
  expectKernelsMatch(testCase);
}

}  // namespace
}  // namespace camshaft::cuda
