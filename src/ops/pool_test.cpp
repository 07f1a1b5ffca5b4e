#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Pool, InfersSymbolicSizes) {
  EXPECT_EQ(typeOf("n, h", "%x: f32[n, 3, h]", R"(
    %y = Pool(%x) {kernel = [3], strides = [2], dilations = [1], pads_begin = [1], pads_end = [1]}
        return %y)"),
            "f32[n, 3, floordiv(h + 1, 2)]");
  // In ceil mode the third window would start in the end padding: 5 + 1 elements, starts 0, 3, 6.
  EXPECT_EQ(typeOf("n", "%x: f32[n, 3, 5]", R"(
    %y = Pool(%x) {kernel = [2], strides = [3], dilations = [1], pads_begin = [1], pads_end = [1],
        ceil_mode = true}
    return %y)"),
            "f32[n, 3, 2]");
  EXPECT_EQ(typeOf("n", "%x: f32[n, 3, 6]", R"(
    %y = Pool(%x) {kernel = [3], strides = [2], dilations = [1], pads_begin = [0], pads_end = [0],
        ceil_mode = true}
    return %y)"),
            "f32[n, 3, 3]");
}

TEST(Pool, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusalOf("%x: i32[1, 3, 9]", R"(
    %y = Pool(%x) {kind = average, kernel = [2], strides = [1], dilations = [1], pads_begin = [0],
        pads_end = [0]}
    return %y)"),
              HasSubstr("node 'y' (Pool) needs floating-point elements and got i32"));
  EXPECT_THAT(refusalOf("%x: f32[1, 3, 9]", R"(
    %y = Pool(%x) {kernel = [2], strides = [0], dilations = [1], pads_begin = [0], pads_end = [0]}
        return %y)"),
              HasSubstr("has 0 as a kernel size, stride or dilation"));
  EXPECT_THAT(refusalOf("%x: f32[1, 3, 9]", R"(
    %y, %z = Pool(%x) {kind = lp, kernel = [2], strides = [1], dilations = [1], pads_begin = [0],
        pads_end = [0]}
    return %y)"),
              HasSubstr("which only max pooling gives"));
}

TEST(Pool, NumbersWinOverNan) {
  expectValues(R"(
    %x: f32[1, 1, 6] = constant [nan, 1, nan, nan, -inf, -inf]
    %y, %z = Pool(%x) {kernel = [2], strides = [2], dilations = [1], pads_begin = [0], pads_end =
        [0]}
    return %y, %z)",
               {{1, NAN, -INFINITY}, {1, 2, 4}});
}

TEST(Pool, ChannelsLastNumbersIndicesAsChannelsFirst) {
  expectValues(R"(
    %x: i8[1, 4, 2] = constant [1, 40, 2, 30, 4, 10, 3, 20]
    %y, %z = Pool(%x) {kernel = [2], strides = [2], dilations = [1], pads_begin = [0], pads_end =
        [0], channels_last = true}
    return %y, %z)",
               {{2, 40, 4, 20}, {1, 4, 2, 7}});
}

TEST(Pool, MatchesOnnxruntime) {
  expectValues(R"(
    %x: f32[1, 1, 4, 5] = constant [-1, -3, 1, 2, 4, -3, 4, -4, -3, 1, 3, 4, 2, -4, -1, 3, 0, -3,
        2, -4]
    %y, %z = Pool(%x) {kind = max, kernel = [2, 3], strides = [2, 2], dilations = [1, 1],
        pads_begin = [0, 1], pads_end = [0, 1], ceil_mode = true, column_major_indices = true}
    return %y, %z)",
               {{4, 4, 4, 4, 4, 2}, {5, 5, 16, 6, 6, 15}});
  expectValues(R"(
    %x: f32[1, 2, 7] = constant [2, -4, -1, -2, 4, 2, 1, 0, -2, 3, 4, -3, -2, -2]
    %y, %z = Pool(%x) {kind = max, kernel = [2], strides = [2], dilations = [3], pads_begin = [1],
        pads_end = [0], ceil_mode = false}
    return %y, %z)",
               {{-1, 4, 1, 3, -2, 4}, {2, 4, 6, 9, 8, 10}});
  expectValues(R"(
    %x: f32[1, 1, 3, 5] = constant [0, -2, -1, 4, -1, 4, 0, -1, 4, -1, 2, -2, 4, 2, 3]
    %y = Pool(%x) {kind = average, kernel = [2, 3], strides = [2, 2], dilations = [1, 1],
        pads_begin = [0, 1], pads_end = [1, 0], ceil_mode = true, count_include_pad = true}
    return %y)",
               {{0.3333333, 0.6666667, 1.5, 0, 0.6666667, 1.25}});
  expectValues(R"(
    %x: f32[1, 1, 3, 5] = constant [0, -2, -1, 4, -1, 4, 0, -1, 4, -1, 2, -2, 4, 2, 3]
    %y = Pool(%x) {kind = average, kernel = [2, 2], strides = [1, 2], dilations = [2, 1],
        pads_begin = [1, 1], pads_end = [1, 1], ceil_mode = true}
    return %y)",
               {{4, -0.5, 1.5, 1, -0.25, 2, 4, -0.5, 1.5}});
  expectValues(R"(
    %x: f32[1, 1, 3, 5] = constant [0, -2, -1, 4, -1, 4, 0, -1, 4, -1, 2, -2, 4, 2, 3]
    %y = Pool(%x) {kind = lp, kernel = [2, 2], strides = [2, 2], dilations = [1, 1], pads_begin =
        [0, 0], pads_end = [0, 1], ceil_mode = false, p = 3}
    return %y)",
               {{4.160168, 5.065797, 1.259921}});
}

}  // namespace
}  // namespace camshaft::testing
