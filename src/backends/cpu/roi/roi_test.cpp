#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

// Boxes of any size and direction, some of them outside.
HarnessCase roiAlign(const std::string& attributes, const std::string& index = "i64") {
  return {.graph = "symbols n, r graph g(%x: f32[n, 67, 9, 7], %a: f32[r, 4], %i: " + index +
                   "[r]) { %y = RoiAlign(%x, %a, %i) {" + attributes + "} return %y }",
          .sizes = {{{"n", 3}, {"r", 5}}, {{"n", 1}, {"r", 0}}, {{"n", 3}, {"r", 40}}},
          .ranges = {{"a", {-8, 24}}, {"i", {0, 0}}}};
}

TEST(RoiAlignKernels, EveryModeAndCoordinateRule) {
  for (const char* mode : {"average", "max"})
    for (const char* half : {"true", "false"})
      for (const char* ratio : {"0", "2", "3"})
        expectKernelsMatch(roiAlign(std::string("height = 4, width = 3, scale = 0.5, mode = ") +
                                    mode + ", half_pixel = " + half +
                                    ", sampling_ratio = " + ratio));
  expectKernelsMatch(roiAlign("", "i32"));
}

TEST(RoiAlignKernels, SaysWhatItDoesNotDo) {
  EXPECT_EQ(refusalsOf("graph g(%x: f16[1, 2, 3, 3], %a: f16[1, 4], %i: i64[1]) { %y = "
                       "RoiAlign(%x, %a, %i) return %y }"),
            "cpu/roi_align_f32: only f32");
}

}  // namespace
}  // namespace camshaft::cpu
