#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Resize, Infers) {
  EXPECT_EQ(typeOf("n, h", "%x: u8[n, 3, h, 4]",
                   "%y = Resize(%x) {sizes = [n, 3, 2*h, 8], scales = [1, 1, 2, 2]} return %y"),
            "u8[n, 3, 2*h, 8]");
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", "%y = Resize(%x) {sizes = [4], scales = [2]} return %y"),
              HasSubstr("node 'y' (Resize) needs one size and one scale for each of 2 dimensions "
                        "and has 1 and 1"));
  EXPECT_THAT(refusalOf("%x: f32[2]",
                        "%y = Resize(%x) {sizes = [4], scales = [2], antialias = true} return %y"),
              HasSubstr("asks for antialiasing"));
}

TEST(Resize, IntegersRoundToEvenAndSaturate) {
  expectValues(
      "%x: u8[2] = constant [1, 2] %y = Resize(%x) {mode = linear, coordinates = align_corners, "
      "sizes = [3], scales = [0]} return %y",
      {{1, 2, 2}}, 0);
  expectValues(
      "%x: u8[4] = constant [0, 255, 255, 0] %y = Resize(%x) {mode = cubic, sizes = [8], scales = "
      "[2]} return %y",
      {{0, 58, 197, 255, 255, 197, 58, 0}}, 0);
}

TEST(Resize, NearestKeepsInfinities) {
  expectValues(
      "%x: f32[2] = constant [inf, 1] %y = Resize(%x) {sizes = [4], scales = [2]} return %y",
      {{INFINITY, INFINITY, 1, 1}});
}

TEST(Resize, PytorchHalfPixelOfOneElementStartsAtZero) {
  expectValues(
      "%x: f32[3] = constant [5, 6, 9] %y = Resize(%x) {mode = cubic, coordinates = "
      "pytorch_half_pixel, sizes = [1], scales = [0]} return %y",
      {{5}});
}

TEST(Resize, MatchesOnnx) {
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = linear, coordinates = half_pixel, sizes = [1, 1, 1, 7], scales = [0,
        0, 0, 0]}
    return %y)",
               {{-4, -1.857143, 1.571429, 2.5, 3.071429, 3.642857, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = linear, coordinates = align_corners, sizes = [1, 1, 1, 6], scales =
        [0, 0, 0, 0]}
    return %y)",
               {{-4, -0.4, 2.2, 2.8, 3.4, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = linear, coordinates = asymmetric, sizes = [1, 1, 1, 10], scales = [1,
        1, 1, 2.5]}
    return %y)",
               {{-4, -1.6, 0.8, 2.2, 2.6, 3, 3.4, 3.8, 4, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = linear, coordinates = pytorch_half_pixel, sizes = [1, 1, 1, 3], scales
        = [0, 0, 0, 0]}
    return %y)",
               {{-3, 2.5, 3.833333}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = linear, coordinates = half_pixel_symmetric, sizes = [1, 1, 1, 5],
        scales = [1, 1, 1, 1.3]}
    return %y)",
               {{-4, 0.3846152, 2.5, 3.269231, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = nearest, coordinates = asymmetric, nearest = round_prefer_floor, sizes
        = [1, 1, 1, 8], scales = [0, 0, 0, 0]}
    return %y)",
               {{-4, -4, 2, 2, 3, 3, 4, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = nearest, coordinates = asymmetric, nearest = round_prefer_ceil, sizes
        = [1, 1, 1, 8], scales = [0, 0, 0, 0]}
    return %y)",
               {{-4, 2, 2, 3, 3, 4, 4, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = nearest, coordinates = asymmetric, nearest = floor, sizes = [1, 1, 1,
        8], scales = [0, 0, 0, 0]}
    return %y)",
               {{-4, -4, 2, 2, 3, 3, 4, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = nearest, coordinates = half_pixel, nearest = ceil, sizes = [1, 1, 1,
        8], scales = [0, 0, 0, 0]}
    return %y)",
               {{-4, 2, 2, 3, 3, 4, 4, 4}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = cubic, coordinates = half_pixel, sizes = [1, 1, 1, 6], scales = [0, 0,
        0, 0], cubic_coefficient = -0.5}
    return %y)",
               {{-4.347221, -1.0625, 2.456017, 2.891205, 3.5625, 4.05787}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = cubic, coordinates = half_pixel, sizes = [1, 1, 1, 6], scales = [0, 0,
        0, 0], exclude_outside = true}
    return %y)",
               {{-4.608109, -1.342857, 2.646991, 2.87384, 3.628572, 4.101351}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = linear, coordinates = half_pixel, sizes = [1, 1, 1, 2], scales = [1,
        1, 1, 0.5], antialias = true}
    return %y)",
               {{-0.875, 3.375}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = cubic, coordinates = half_pixel, sizes = [1, 1, 1, 2], scales = [1, 1,
        1, 0.5], antialias = true, exclude_outside = true}
    return %y)",
               {{-0.7285714, 3.708163}});
  expectValues(R"(
    %x: f32[1, 1, 1, 4] = constant [-4, 2, 3, 4]
    %y = Resize(%x) {mode = linear, coordinates = crop_and_resize, sizes = [1, 1, 1, 5], scales =
        [0, 0, 0, 0], roi = [0, 0, 0, 0.25, 1, 1, 1, 1.5], extrapolation = 9}
    return %y)",
               {{0.5, 2.6875, 3.625, 9, 9}});
  expectValues(R"(
    %x: f32[1, 1, 2, 3] = constant [2, 0, -3, 2, 0, 3]
    %y = Resize(%x) {mode = linear, coordinates = half_pixel, sizes = [1, 1, 3, 4], scales = [0,
        0, 0, 0]}
    return %y)",
               {{2, 0.75, -1.125, -3, 2, 0.75, 0, 0, 2, 0.75, 1.125, 3}});
  expectValues(R"(
    %x: f32[1, 1, 2, 3] = constant [2, 0, -3, 2, 0, 3]
    %y = Resize(%x) {mode = cubic, coordinates = align_corners, sizes = [1, 1, 3, 2], scales = [0,
        0, 0, 0]}
    return %y)",
               {{2, -3, 2, 0, 2, 3}});
}

}  // namespace
}  // namespace camshaft::testing
