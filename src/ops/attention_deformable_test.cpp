#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

const std::string kCall = "%y = DeformableAttention(%v, %s, %b, %l, %w) return %y";

TEST(DeformableAttention, Infers) {
  const std::string levels = ", %s: i64[3, 2], %b: i32[3], ";
  EXPECT_EQ(
      typeOf("n, p, q",
             "%v: f16[n, p, 8, 32]" + levels + "%l: f32[n, q, 8, 3, 4, 2], %w: f16[n, q, 8, 3, 4]",
             kCall),
      "f16[n, q, 8, 32]");
  EXPECT_THAT(refusalOf("%v: f32[1, 9, 8, 32]" + levels +
                            "%l: f32[1, 5, 4, 3, 4, 2], %w: f32[1, 5, 4, 3, 4]",
                        kCall),
              HasSubstr("has 4 heads of locations where its values have 8"));
  EXPECT_THAT(refusalOf("%v: f32[1, 9, 4, 32]" + levels +
                            "%l: f32[1, 5, 4, 2, 4, 2], %w: f32[1, 5, 4, 2, 4]",
                        kCall),
              HasSubstr("the sizes of its levels"));
  EXPECT_THAT(refusalOf("%v: f32[1, 9, 4, 32], %s: f32[3, 2], %b: i32[3], "
                        "%l: f32[1, 5, 4, 3, 4, 2], %w: f32[1, 5, 4, 3, 4]",
                        kCall),
              HasSubstr("i32 or i64 and got f32"));
}

// [[1, 2], [3, 4]] in its middle, on a pixel, at a corner, beyond an edge, and far outside.
TEST(DeformableAttention, InterpolatesBetweenPixels) {
  expectValues(R"(
    %v: f32[1, 4, 1, 1] = constant [1, 2, 3, 4]
    %s: i64[1, 2] = constant [2, 2]
    %b: i64[1] = constant [0]
    %l: f32[1, 6, 1, 1, 1, 2] = constant [0.5, 0.5, 0.25, 0.25, 0, 0, 1, 0.75, 2, 0.5, nan, 0.5]
    %w: f32[1, 6, 1, 1, 1] = constant [1, 2, 4, 0.5, 7, 3]
    )" + kCall,
               {{2.5, 2, 1, 1, 0, 0}});
}

// An image of one pixel and one of 1 x 2; the second head looks at the last pixel.
TEST(DeformableAttention, AddsUpPointsOfSeveralLevels) {
  expectValues(R"(
    %v: f32[1, 3, 2, 2] = constant [1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60]
    %s: i32[2, 2] = constant [1, 1, 1, 2]
    %b: i32[2] = constant [0, 1]
    %l: f32[1, 1, 2, 2, 1, 2] = constant [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.75, 0.5]
    %w: f32[1, 1, 2, 2, 1] = constant [1, 2, 0.5, 1]
    )" + kCall,
               {{9, 90, 7, 70}});
}

// x comes before y: the third pixel of 1 x 3, which y and x exchanged would miss.
TEST(DeformableAttention, TakesXBeforeY) {
  expectValues(R"(
    %v: f32[1, 3, 1, 1] = constant [1, 2, 3]
    %s: i64[1, 2] = constant [1, 3]
    %b: i64[1] = constant [0]
    %l: f32[1, 1, 1, 1, 1, 2] = constant [0.8333333, 0.5]
    %w: f32[1, 1, 1, 1, 1] = constant [1]
    )" + kCall,
               {{3}});
}

// Two queries, heads, levels (2 x 3 and 1 x 2), points and elements; the results are those of a
// program that interpolates each image, with zeros around it, along one dimension after the other.
TEST(DeformableAttention, AgreesWithInterpolationByDimension) {
  expectValues(
      R"(
    %v: f32[1, 8, 2, 2] = constant [-0.8, -1.32, -0.25, 0.42, 1.14, 0.11, -0.55, -0.78,
      0.75, 1.63, 0.27, -1.23, -0.96, 1.6, 0.2, -1.73, -0.08, -1.16, -0.63, -0.49, -0.71,
      0.55, -0.06, -0.59, 0.41, 0.83, -1.64, -0.26, -0.98, -0.17, -1.29, 0.02]
    %s: i64[2, 2] = constant [2, 3, 1, 2]
    %b: i64[2] = constant [0, 6]
    %l: f32[1, 2, 2, 2, 2, 2] = constant [0.5, 0.42, 0.14, 0.29, 0.87, 0.28, 0.08, 0.74,
      0.44, 0.86, 0.18, 0.28, 0.86, 0.51, 0.51, 0.18, -0.08, 1.02, 0, 0.91, 0.34, 1.04,
      0.38, 1.02, 0.57, 0.19, 0.79, 0.71, 0.72, 0.46, 0.17, 0.67]
    %w: f32[1, 2, 2, 2, 2] = constant [0.11, 0.69, 0.64, 0.38, 0.8, 0.19, 0.39, 0.8, 0.38,
      0.71, 0.61, 0.94, 0.99, 0.72, 0.81, 0.15]
    )" + kCall,
      {{-0.729848, -0.631337, -1.526432, -0.453965, -0.208606, 0.898531, -1.599500, -1.236250}});
}

TEST(DeformableAttention, PixelsThatAreNotThereAreZero) {
  expectValues(R"(
    %v: f32[1, 2, 1, 1] = constant [1, 2]
    %s: i64[3, 2] = constant [1, 2, 9223372036854775807, 9223372036854775807, -3, 2]
    %b: i64[3] = constant [1, -9223372036854775808, 0]
    %l: f32[1, 1, 1, 3, 1, 2] = constant [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    %w: f32[1, 1, 1, 3, 1] = constant [1, 1, 1]
    )" + kCall,
               {{1}});
}

}  // namespace
}  // namespace camshaft::testing
