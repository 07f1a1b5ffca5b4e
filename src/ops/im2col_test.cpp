#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

const std::string kWindow =
    "{kernel = [2, 2], strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, "
    "0]} return %y";

TEST(DeformColumns, Infers) {
  EXPECT_EQ(typeOf("n", "%x: f32[n, 4, 5, 6], %a: f32[n, 8, 4, 5]",
                   "%y = DeformColumns(%x, %a) " + kWindow),
            "f32[n, 4, 4, 20]");
  EXPECT_THAT(refusalOf("%x: f32[1, 4, 5, 6], %a: f32[1, 8, 5, 5]",
                        "%y = DeformColumns(%x, %a) " + kWindow),
              HasSubstr("its offsets"));
}

TEST(DeformColumns, MovesTapsAndMasksThem) {
  // One window over [[1, 2], [3, 4]]: taps moved by (0, 0), (0.5, 0), (0, -0.5) and (0.5, 0.5).
  const std::string x =
      "%x: f32[1, 1, 2, 2] = constant [1, 2, 3, 4] "
      "%a: f32[1, 8, 1, 1] = constant [0, 0, 0.5, 0, 0, -0.5, 0.5, 0.5] ";
  expectValues(x + "%y = DeformColumns(%x, %a) " + kWindow, {{1, 3, 1.5, 1}});
  expectValues(
      x + "%m: f32[1, 4, 1, 1] = constant [1, 2, 0, -1] %y = DeformColumns(%x, %a, %m) " + kWindow,
      {{1, 6, 0, -1}});
}

TEST(FoldColumns, Infers) {
  EXPECT_EQ(typeOf("n, h", "%x: f32[n, 12, 4*h]",
                   "%y = FoldColumns(%x) {sizes = [h + 1, 5], kernel = [2, 2], strides = [1, 1], "
                   "dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} return %y"),
            "f32[n, 3, h + 1, 5]");
  EXPECT_THAT(refusalOf("%x: f32[1, 12, 5]",
                        "%y = FoldColumns(%x) {sizes = [3, 3], kernel = [2, 2], strides = [1, 1], "
                        "dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} return %y"),
              HasSubstr("5 columns"));
}

TEST(FoldColumns, AddsWhereWindowsMeet) {
  expectValues(R"(
    %x: i32[1, 2, 3] = constant [1, 2, 3, 10, 20, 30]
    %y = FoldColumns(%x) {sizes = [4], kernel = [2], strides = [1], dilations = [1],
                          pads_begin = [0], pads_end = [0]} return %y)",
               {{1, 12, 23, 30}});
  // The first tap of the first window and the last tap of the last one lie in the padding.
  expectValues(R"(
    %x: f32[1, 2, 2] = constant [1, 2, 10, 20]
    %y = FoldColumns(%x) {sizes = [3], kernel = [2], strides = [2], dilations = [2],
                          pads_begin = [1], pads_end = [1]} return %y)",
               {{0, 12, 0}});
}

TEST(Determinant, OfEveryMatrix) {
  EXPECT_EQ(typeOf("n", "%x: f32[n, 3, 3]", "%y = Determinant(%x) return %y"), "f32[n]");
  expectValues(
      "%x: f32[3, 2, 2] = constant [1, 2, 3, 4, 0, 1, 1, 0, 2, 4, 1, 2] "
      "%y = Determinant(%x) return %y",
      {{-2, -1, 0}});
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", "%y = Determinant(%x) return %y"), HasSubstr("3 columns"));
}

}  // namespace
}  // namespace camshaft::testing
