#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(ConvTranspose, InfersSymbolicSizes) {
  EXPECT_EQ(typeOf("n, h, w", "%x: f32[n, 4, h, w], %a: f32[4, 3, 4, 2]", R"(
    %y = ConvTranspose(%x, %a) {strides = [2, 3], dilations = [1, 1], pads_begin = [1, 0],
        pads_end = [1, 0],
        output_padding = [0, 1], groups = 2} return %y)"),
            "f32[n, 6, 2*h, 3*w]");
}

TEST(ConvTranspose, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusalOf("%x: f32[1, 3, 9], %a: f32[4, 8, 3]", R"(
    %y = ConvTranspose(%x, %a) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0],
        output_padding = [0]}
    return %y)"),
              HasSubstr("node 'y' (ConvTranspose) has 3 input channels where its weights need 4"));
  EXPECT_THAT(refusalOf("%x: f32[1, 3, 1], %a: f32[3, 8, 2]", R"(
    %y = ConvTranspose(%x, %a) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1],
        output_padding = [0]}
    return %y)"),
              HasSubstr("pads away its whole output"));
}

TEST(ConvTranspose, OverlapsAddUp) {
  expectValues(R"(
    %x: f32[1, 1, 3] = constant [1, 2, 3]
    %a: f32[1, 1, 3] = constant [1, 10, 100]
    %b: f32[1] = constant [1000]
    %y = ConvTranspose(%x, %a, %b) {strides = [2], dilations = [1], pads_begin = [0], pads_end =
        [0], output_padding = [0]}
    return %y)",
               {{1001, 1010, 1102, 1020, 1203, 1030, 1300}});
}

TEST(ConvTranspose, ChannelsLastGivesTheSameNumbers) {
  expectValues(R"(
    %x: f32[1, 2, 1] = constant [1, 2]
    %a: f32[1, 2, 2] = constant [1, 2, 10, 20]
    %b: f32[2] = constant [0, 100]
    %y = ConvTranspose(%x, %a, %b) {strides = [2], dilations = [1], pads_begin = [0], pads_end =
        [0],
        output_padding = [0], channels_last = true}
    return %y)",
               {{1, 110, 2, 120, 2, 120, 4, 140}});
}

TEST(ConvTranspose, MatchesOnnxruntime) {
  expectValues(R"(
    %x: f32[1, 2, 2, 2] = constant [1, 2, 2, -1, 4, -4, -2, -3]
    %a: f32[2, 1, 3, 2] = constant [-4, 4, -4, 0, 3, 2, 3, -4, 0, -4, -3, 3]
    %b: f32[2] = constant [-4, 1]
    %y = ConvTranspose(%x, %a, %b) {strides = [2, 1], dilations = [1, 2], pads_begin = [1, 0],
        pads_end = [0, 1], output_padding = [1, 0], groups = 2}
    return %y)",
               {{-8, -12, -4,  -9,  6, 6,  -12, 0, -4, 2, -7, 0,  -4, -4, -4,
                 1,  1,   -15, -17, 4, 21, 1,   1, 9,  7, 10, -5, 1,  1,  1}});
  expectValues(R"(
    %x: f32[1, 2, 3] = constant [-4, -2, 4, -2, -2, -4]
    %a: f32[2, 2, 2] = constant [2, -3, 0, -4, -4, 3, -4, 0]
    %y = ConvTranspose(%x, %a) {strides = [3], dilations = [1], pads_begin = [0], pads_end = [0],
        output_padding = [0]}
    return %y)",
               {{0, 6, 0, 4, 0, 0, 24, -24, 8, 16, 0, 8, 8, 0, 16, -16}});
}

}  // namespace
}  // namespace camshaft::testing
