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
            "cpu/roi_align_f32: only f32; cpu/deform_columns_f32: only for DeformColumns");
}

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

}  // namespace
}  // namespace camshaft::cpu
