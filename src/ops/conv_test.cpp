#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Conv, InfersSymbolicSizes) {
  EXPECT_EQ(typeOf("n, h, w", "%x: f32[n, 3, h, w], %a: f32[8, 3, 3, 3]", R"(
    %y = Conv(%x, %a) {strides = [2, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1,
        1]} return %y)"),
            "f32[n, 8, floordiv(h + 1, 2), w]");
  EXPECT_EQ(typeOf("n, h", "%x: f16[n, h, 5, 4], %a: f16[6, 2, 1, 3]", R"(
    %y = Conv(%x, %a) {strides = [1, 2], dilations = [1, 2], pads_begin = [0, 0], pads_end = [0,
        0], groups = 2,
        channels_last = true} return %y)"),
            "f16[n, h, 1, 6]");
  EXPECT_EQ(typeOf("n", "%x: u8[n, 3, 9], %a: i8[8, 3, 3]", R"(
    %y = Conv(%x, %a) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [-2]} return
        %y)"),
            "i32[n, 8, 5]");
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const std::string attrs =
      "{strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} return %y";
  EXPECT_THAT(
      refusalOf("%x: f32[1, 3, 9], %a: f32[8, 4, 3]", "%y = Conv(%x, %a) " + attrs),
      HasSubstr("node 'y' (Conv) has 3 input channels where its weights and groups need 4"));
  EXPECT_THAT(
      refusalOf("%x: f32[1, 3, 2], %a: f32[8, 3, 5]", "%y = Conv(%x, %a) " + attrs),
      HasSubstr("node 'y' (Conv) has a window of 5 elements, larger than its padded input of 2"));
  EXPECT_THAT(
      refusalOf("%x: f32[1, 3, 9], %a: f32[8, 3, 3], %b: f32[7]", "%y = Conv(%x, %a, %b) " + attrs),
      HasSubstr("needs a bias of shape [8] and got f32[7]"));
  EXPECT_THAT(
      refusalOf("%x: f32[1, 3, 9, 9], %a: f32[8, 3, 3, 3]", "%y = Conv(%x, %a) " + attrs),
      HasSubstr("has 1 values in an attribute that needs one for each of 2 spatial dimensions"));
  EXPECT_THAT(refusalOf("%x: f32[1, 3, 9], %a: f16[8, 3, 3]", "%y = Conv(%x, %a) " + attrs),
              HasSubstr("of different types f32 and f16"));
}

TEST(Conv, NegativePadsCrop) {
  expectValues(R"(
    %x: f32[1, 1, 5] = constant [1, 2, 3, 4, 5]
    %a: f32[1, 1, 2] = constant [1, 10]
    %y = Conv(%x, %a) {strides = [1], dilations = [1], pads_begin = [-1], pads_end = [-1]}
    return %y)",
               {{32, 43}});
}

TEST(Conv, ChannelsLastGivesTheSameNumbers) {
  // Two pixels of three channels, weights that pick channel 0 plus ten times channel 2.
  expectValues(R"(
    %x: f32[1, 2, 3] = constant [1, 2, 3, 4, 5, 6]
    %a: f32[1, 3, 1] = constant [1, 0, 10]
    %y = Conv(%x, %a) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0],
        channels_last = true}
    return %y)",
               {{31, 64}});
}

TEST(Conv, MultipliesBytesExactly) {
  expectValues(R"(
    %x: u8[1, 1, 3] = constant [255, 255, 1]
    %a: i8[1, 1, 2] = constant [-128, 127]
    %y = Conv(%x, %a) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]}
    return %y)",
               {{-255, -32513}}, 0);
}

TEST(Conv, MatchesOnnxruntime) {
  expectValues(R"(
    %x: f32[1, 2, 4, 3] = constant [-3, -3, 3, 0, 1, 1, 2, -4, 0, -3, -1, 4, 0, -4, 0, -3, 2, 4,
        4, 1, 3, -1, -3, 0]
    %a: f32[2, 1, 3, 2] = constant [-1, 1, 4, -2, 3, -3, -1, 3, -2, 2, 0, 0]
    %b: f32[2] = constant [4, 3]
    %y = Conv(%x, %a, %b) {strides = [2, 1], dilations = [1, 2], pads_begin = [1, 1], pads_end =
        [0, 1], groups = 2}
    return %y)",
               {{7, -17, -5, 16, -8, -16, -5, 3, 11, 11, 16, -1}});
  expectValues(R"(
    %x: f32[2, 2, 5] = constant [3, 0, 4, 4, -3, -3, -2, 0, 3, 0, 4, -1, 4, 1, 2, -2, 1, 3, 3, 3]
    %a: f32[3, 2, 2] = constant [4, -3, 3, 0, 2, -2, -4, -4, 4, 4, -2, -1]
    %y = Conv(%x, %a) {strides = [3], dilations = [1], pads_begin = [0], pads_end = [1]}
    return %y)",
               {{3, 34, 26, 2, 20, -2, 13, 7, 14, -26, 15, 3}});
  expectValues(R"(
    %x: f32[1, 1, 2, 3, 2] = constant [-2, -3, 3, 2, -4, -3, 1, 4, 4, -3, 1, -4]
    %a: f32[1, 1, 2, 2, 2] = constant [-3, -3, -1, -1, 2, 0, -1, 4]
    %y = Conv(%x, %a) {strides = [1, 1, 1], dilations = [1, 1, 1], pads_begin = [0, 0, 0],
        pads_end = [0, 0, 0]}
    return %y)",
               {{-4, -17}});
}

}  // namespace
}  // namespace camshaft::testing
