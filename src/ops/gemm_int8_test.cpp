#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(MatMulInteger, InfersBroadcastBatchesAndRefusesOtherTypes) {
  EXPECT_EQ(
      typeOf("b, s", "%x: u8[b, 1, s, 8], %w: i8[4, 8, 3]", "%y = MatMulInteger(%x, %w) return %y"),
      "i32[b, 4, s, 3]");
  EXPECT_THAT(refusalOf("%x: f32[2, 3], %w: i8[3, 5]", "%y = MatMulInteger(%x, %w) return %y"),
              HasSubstr("multiplies 8-bit integers and its input 0 is f32"));
  EXPECT_NE(refusalOf("%x: u8[2, 3], %w: i8[4, 5]", "%y = MatMulInteger(%x, %w) return %y"), "");
  EXPECT_NE(
      refusalOf("%x: u8[2, 3], %w: i8[3, 5], %z: i8[]", "%y = MatMulInteger(%x, %w, %z) return %y"),
      "");
}

TEST(MatMulInteger, SubtractsZeroPoints) {
  // [1, -2] and [-9, 245] times [[-128, 2], [127, -3]], its second column less 5.
  expectValues(R"(
    %x: u8[2, 2] = constant [11, 8, 1, 255]
    %w: i8[2, 2] = constant [-128, 2, 127, -3]
    %xz: u8[] = constant [10]
    %wz: i8[2] = constant [0, 5]
    %y = MatMulInteger(%x, %w, %xz, %wz) return %y)",
               {{-382, 13, 32267, -1933}});
  expectValues(R"(
    %x: i8[2, 1] = constant [-128, 127]
    %w: u8[1, 1] = constant [255]
    %xz: i8[2, 1] = constant [127, -128]
    %y = MatMulInteger(%x, %w, %xz) return %y)",
               {{-65025, 65025}});
}

TEST(ConvInteger, PadsWithItsZeroPoint) {
  // Windows of three over [0, 1, 2, -1, 0] with taps [1, 2, 3], then taps [1, 0, -1].
  expectValues(R"(
    %x: u8[1, 1, 3] = constant [4, 5, 2]
    %w: i8[2, 1, 3] = constant [1, 2, 3, 0, -1, -2]
    %xz: u8[] = constant [3]
    %wz: i8[2, 1, 1] = constant [0, -1]
    %y = ConvInteger(%x, %w, %xz, %wz) {strides = [1], dilations = [1], pads_begin = [1],
                                        pads_end = [1]} return %y)",
               {{8, 2, 0, -2, 2, 2}});
}

TEST(DynamicQuantize, MapsTheRangeWithZero) {
  expectValues(R"(
    %x: f32[4] = constant [0, 2, -3, -1]
    %q, %s, %z = DynamicQuantize(%x) return %q, %s, %z)",
               {{153, 255, 0, 102}, {5.0 / 255}, {153}});
  expectValues(R"(
    %x: f32[2] = constant [510, 255]
    %q, %s, %z = DynamicQuantize(%x) return %q, %s, %z)",
               {{255, 128}, {2}, {0}});
}

TEST(MatMulNBits, UnpacksBlocks) {
  // Rows (1 2 | 3 - 8 ...) of numbers less 8, or less the zero points given.
  const std::string operands = R"(
    %x: f32[1, 3] = constant [1, 10, 100]
    %w: u8[2, 2, 1] = constant [33, 3, 240, 9]
    %s: f32[2, 2] = constant [1, 2, 0.5, 1] )";
  expectValues(operands + "%y = MatMulNBits(%x, %w, %s) {bits = 4, block_size = 2} return %y",
               {{-1067, 131}});
  expectValues(operands + R"(
    %z: u8[2, 2] = constant [1, 3, 0, 9]
    %y = MatMulNBits(%x, %w, %s, %z) {bits = 4, block_size = 2} return %y)",
               {{10, 75}});
  EXPECT_THAT(refusalOf("%x: f32[1, 3], %w: u8[2, 2, 2], %s: f32[2, 2]",
                        "%y = MatMulNBits(%x, %w, %s) {bits = 4, block_size = 2} return %y"),
              HasSubstr("bytes in a block"));
}

TEST(MatMulNBits, NormalisesRows) {
  const std::string operands = R"(
    %x: f32[2, 2] = constant [1, 7, 0, 0]
    %w: u8[1, 1, 1] = constant [169]
    %s: f32[1, 1] = constant [1]
    %f: f32[2] = constant [2, 1] )";
  // (1 7) has the root mean square 5 and (9 10) less 8 are the weights.
  expectValues(operands +
                   "%y = MatMulNBits(%x, %w, %s) {block_size = 2, rms = true, epsilon = 1e-12} "
                   "return %y",
               {{3, 0}});
  expectValues(operands +
                   "%y = MatMulNBits(%x, %w, %s, _, %f) "
                   "{block_size = 2, rms = true, epsilon = 1e-12} return %y",
               {{3.2, 0}});
  EXPECT_THAT(refusalOf("%x: f32[1, 2], %w: u8[1, 1, 1], %s: f32[1, 1], %f: f32[2]",
                        "%y = MatMulNBits(%x, %w, %s, _, %f) {block_size = 2} return %y"),
              HasSubstr("factors without a norm"));
}

}  // namespace
}  // namespace camshaft::testing
