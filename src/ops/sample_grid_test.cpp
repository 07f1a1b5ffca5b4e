#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(GridSample, Infers) {
  EXPECT_EQ(typeOf("n, h, w", "%x: f32[n, 3, 8, 9], %a: f32[n, h, w, 2]",
                   "%y = GridSample(%x, %a) return %y"),
            "f32[n, 3, h, w]");
  EXPECT_THAT(
      refusalOf("%x: f32[1, 3, 8, 9], %a: f32[1, 4, 4, 3]", "%y = GridSample(%x, %a) return %y"),
      HasSubstr("node 'y' (GridSample) has 3 coordinates per grid point"));
}

TEST(GridSample, CoordinatesNameTheLastDimensionFirst) {
  const std::string x = "%x: f32[1, 1, 2, 2] = constant [1, 2, 3, 4] ";
  expectValues(x + R"(
    %a: f32[1, 1, 4, 2] = constant [-1, -1, 1, -1, -1, 1, 0, 0]
    %y = GridSample(%x, %a) {align_corners = true} return %y)",
               {{1, 2, 3, 2.5}});
  expectValues(x + R"(
    %a: f32[1, 1, 2, 2] = constant [nan, 0, 5, 5]
    %y = GridSample(%x, %a) return %y)",
               {{0, 0}});
}

// Half of 0.1 in f32 is off by 7e-10.
TEST(GridSample, OfDoublesIsComputedInDoubles) {
  expectValues(R"(
    %x: f64[1, 1, 1, 2] = constant [0, 1e12]
    %a: f64[1, 1, 1, 2] = constant [0.1, 0]
    %y = GridSample(%x, %a) {align_corners = true}
    %z = Pointwise(%y) {expr = sub(x0:f64, 550000000000:f64)} return %z)",
               {{0}});
}

TEST(GridSample, ReflectsWhereThereIsNothingToReflectIn) {
  expectValues(R"(
    %x: f32[1, 1, 1, 1] = constant [7]
    %a: f32[1, 1, 1, 2] = constant [3, -9]
    %y = GridSample(%x, %a) {padding = reflection, align_corners = true} return %y)",
               {{7}});
}

TEST(GridSample, MatchesOnnxruntime) {
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [0.65625, -0.84375, -1.46875, 1.03125, -0.46875, -0.84375]
    %y = GridSample(%x, %a) {mode = linear, padding = zeros, align_corners = false}
    return %y)",
               {{2.157227, 0, -2.283447}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [-1.71875, -1.34375, -1.59375, -0.34375, -0.71875, 0.03125]
    %y = GridSample(%x, %a) {mode = linear, padding = border, align_corners = true}
    return %y)",
               {{-4, -0.71875, 1.334961}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [0.28125, -0.71875, 0.15625, 0.40625, 0.65625, 0.40625]
    %y = GridSample(%x, %a) {mode = linear, padding = reflection, align_corners = false}
    return %y)",
               {{0.6875, 2.375, 1.625}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [-1.71875, -0.96875, 1.15625, 0.53125, -0.71875, -0.46875]
    %y = GridSample(%x, %a) {mode = nearest, padding = zeros, align_corners = false}
    return %y)",
               {{0, 0, -4}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [1.53125, 0.90625, -0.46875, -0.71875, -1.34375, 1.15625]
    %y = GridSample(%x, %a) {mode = nearest, padding = border, align_corners = true}
    return %y)",
               {{2, -1, 3}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [0.53125, -0.21875, 0.78125, 0.28125, 0.15625, 0.65625]
    %y = GridSample(%x, %a) {mode = nearest, padding = reflection, align_corners = false}
    return %y)",
               {{1, 1, 3}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [1.03125, 0.15625, -0.34375, -0.84375, -0.71875, 1.78125]
    %y = GridSample(%x, %a) {mode = cubic, padding = zeros, align_corners = false}
    return %y)",
               {{0.3472752, -3.034549, -0.1525177}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [-1.09375, -1.46875, 0.40625, -0.59375, -1.46875, 0.15625]
    %y = GridSample(%x, %a) {mode = cubic, padding = border, align_corners = true}
    return %y)",
               {{-4.680801, 1.1565, 1.614909}});
  expectValues(R"(
    %x: f32[1, 1, 3, 3] = constant [-4, -1, 3, 1, 2, 1, 3, 3, 2]
    %a: f32[1, 1, 3, 2] = constant [0.90625, -1.71875, 0.03125, -1.21875, 0.28125, 1.15625]
    %y = GridSample(%x, %a) {mode = cubic, padding = reflection, align_corners = false}
    return %y)",
               {{1.902272, -1.050992, 2.718482}});
  expectValues(R"(
    %x: f32[1, 1, 2, 2, 2] = constant [3, 3, -2, 1, 1, 4, 2, 2]
    %a: f32[1, 1, 1, 2, 3] = constant [-0.625, -0.375, -0.25, 0.25, 0.625, -0.25]
    %y = GridSample(%x, %a) {}
    return %y)",
               {{1.804688, 0.6015625}});
}

}  // namespace
}  // namespace camshaft::testing
