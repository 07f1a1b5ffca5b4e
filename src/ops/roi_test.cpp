#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

const std::string kImage =
    "%x: f32[1, 1, 3, 4] = constant [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] ";
const std::string kFirst = "%i: i64[1] = constant [0] ";

TEST(RoiAlign, Infers) {
  EXPECT_EQ(typeOf("n, r", "%x: f16[n, 3, 8, 9], %a: f16[r, 4], %i: i64[r]",
                   "%y = RoiAlign(%x, %a, %i) {height = 7, width = 5} return %y"),
            "f16[r, 3, 7, 5]");
  EXPECT_THAT(refusalOf("%x: f32[1, 3, 8, 9], %a: f32[2, 5], %i: i64[2]",
                        "%y = RoiAlign(%x, %a, %i) return %y"),
              HasSubstr("5 numbers per box"));
}

// x + 4y + 1 is linear, so the mean over a bin is its value at the bin's centre.
TEST(RoiAlign, AveragesBetweenPixels) {
  expectValues(kImage + kFirst + R"(
    %a: f32[1, 4] = constant [1, 1, 3, 2]
    %y = RoiAlign(%x, %a, %i) {height = 1, width = 2, half_pixel = false} return %y)",
               {{8.5, 9.5}});
  expectValues(kImage + kFirst + R"(
    %a: f32[1, 4] = constant [1, 1, 3, 2]
    %y = RoiAlign(%x, %a, %i) {height = 1, width = 2} return %y)",
               {{6, 7}});
}

TEST(RoiAlign, SamplesOutsideAreZeroButCount) {
  // Half of the samples lie left of -1; the others are at x = 0.
  expectValues(kImage + kFirst + R"(
    %a: f32[1, 4] = constant [-3, 0, 1, 0]
    %y = RoiAlign(%x, %a, %i) {sampling_ratio = 2, half_pixel = false} return %y)",
               {{1.5}});
  // A box of no extent has no samples.
  expectValues(kImage + kFirst + R"(
    %a: f32[1, 4] = constant [2, 2, 2, 2]
    %y = RoiAlign(%x, %a, %i) return %y)",
               {{0}});
  expectValues(kImage + kFirst + R"(
    %a: f32[1, 4] = constant [nan, 0, inf, 1]
    %y = RoiAlign(%x, %a, %i) {sampling_ratio = 1} return %y)",
               {{0}});
}

TEST(RoiAlign, MaxIsOverWeightedCorners) {
  // One sample at (0.5, 0.5): a quarter of 1, 2, 5 and 6.
  expectValues(kImage + kFirst + R"(
    %a: f32[1, 4] = constant [0, 0, 1, 1]
    %y = RoiAlign(%x, %a, %i) {mode = max, sampling_ratio = 1, half_pixel = false} return %y)",
               {{1.5}});
}

TEST(RoiMaxPool, TakesWholePixels) {
  EXPECT_EQ(typeOf("n, r", "%x: f32[n, 3, 8, 9], %a: f32[r, 5]",
                   "%y = RoiMaxPool(%x, %a) {height = 2, width = 2} return %y"),
            "f32[r, 3, 2, 2]");
  expectValues(kImage + R"(
    %a: f32[2, 5] = constant [0, 0.4, 0, 2.4, 1.6, 0, 3, 2, 9, 9]
    %y = RoiMaxPool(%x, %a) {height = 1, width = 2} return %y)",
               {{10, 11, 12, 0}});
}

}  // namespace
}  // namespace camshaft::testing
