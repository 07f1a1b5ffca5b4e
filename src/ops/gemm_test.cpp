#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(MatMul, InfersBroadcastBatches) {
  EXPECT_EQ(
      typeOf("b, s", "%x: f32[b, 1, s, 8], %a: f32[4, 8, 3]", "%y = MatMul(%x, %a) return %y"),
      "f32[b, 4, s, 3]");
  EXPECT_EQ(typeOf("m, k, n", "%x: f32[k, m], %a: f32[n, k]",
                   "%y = MatMul(%x, %a) {transpose_a = true, transpose_b = true} return %y"),
            "f32[m, n]");
  EXPECT_EQ(typeOf("m", "%x: u8[m, 4], %a: i8[4, 5]", "%y = MatMul(%x, %a) return %y"),
            "i32[m, 5]");
}

TEST(MatMul, RefusesWhatDoesNotMultiply) {
  EXPECT_THAT(
      refusalOf("%x: f32[2, 3], %a: f32[4, 5]", "%y = MatMul(%x, %a) return %y"),
      HasSubstr(
          "node 'y' (MatMul) multiplies f32[2, 3] by f32[4, 5] whose inner sizes 3 and 4 differ"));
  EXPECT_THAT(refusalOf("%x: f32[3], %a: f32[3, 5]", "%y = MatMul(%x, %a) return %y"),
              HasSubstr("both need at least two dimensions"));
  EXPECT_NE(refusalOf("%x: f32[2, 2, 3], %a: f32[3, 3, 5]", "%y = MatMul(%x, %a) return %y"), "");
}

TEST(MatMul, BroadcastsAndTransposes) {
  const std::string operands = R"(
    %x: f32[2, 1, 1, 2] = constant [1, 2, 3, 4]
    %a: f32[2, 2, 2] = constant [1, 10, 100, 1000, -1, -2, -3, -4] )";
  expectValues(operands + "%y = MatMul(%x, %a) return %y",
               {{201, 2010, -7, -10, 403, 4030, -15, -22}});
  expectValues(operands + "%y = MatMul(%x, %a) {transpose_b = true} return %y",
               {{21, 2100, -5, -11, 43, 4300, -11, -25}});
  expectValues(R"(
    %x: f64[2, 3] = constant [1, 2, 3, 4, 5, 6]
    %a: f64[2, 1] = constant [1, 10]
    %y = MatMul(%x, %a) {transpose_a = true} return %y)",
               {{41, 52, 63}});
}

TEST(MatMul, IntegersAreExactAndWrap) {
  expectValues(R"(
    %x: i64[1, 2] = constant [9007199254740993, -1]
    %a: i64[2, 1] = constant [1, 9007199254740992]
    %y = MatMul(%x, %a) return %y)",
               {{1}}, 0);
  expectValues(R"(
    %x: u32[1, 2] = constant [4294967295, 2]
    %a: u32[2, 1] = constant [1, 1]
    %y = MatMul(%x, %a) return %y)",
               {{1}}, 0);
  expectValues(R"(
    %x: u8[1, 2] = constant [255, 255]
    %a: i8[2, 1] = constant [-128, -128]
    %y = MatMul(%x, %a) return %y)",
               {{-65280}}, 0);
}

TEST(MatMul, EmptyInnerDimensionGivesZeros) {
  expectValues(
      "%x: f32[2, 0] = constant [] %a: f32[0, 1] = constant [] %y = MatMul(%x, %a) return %y",
      {{0, 0}});
}

// Two blocks of columns, of which one is 1 and the other 3: a mean of 2, a deviation of 1.
TEST(NormMatMul, NormalisesRowsByTheirMomentsAndKeepsTheirFactors) {
  const std::string operands = R"(
    %x: f32[1, 64] = constant splat 3
    %m: f32[1, 2, 2] = constant [1, 0, 3, 0]
    %w: f32[64, 1] = constant splat 0.5
    %s: f32[64] = constant splat 2
    %b: f32[64] = constant splat 4 )";
  expectValues(operands +
                   "%y, %mean, %factor = NormMatMul(%x, %w, %m, %s, %b) "
                   "{epsilon = 0, keeps_moments = true} return %y, %mean, %factor",
               {{64 * 0.5 * (1 * 2 + 4)}, {2}, {1}});
  expectValues(R"(
    %x: f32[1, 32] = constant splat 10
    %m: f32[1, 1, 2] = constant [4, 288]
    %w: f32[2, 32] = constant splat 1
    %y = NormMatMul(%x, %w, %m) {epsilon = 0, rms = true, transpose_b = true} return %y)",
               {{32 * 10 / 5.0, 32 * 10 / 5.0}});
}

TEST(NormMatMul, InfersAndRefuses) {
  EXPECT_EQ(typeOf("b", "%x: f16[b, 4, 64], %w: f16[64, 3], %m: f32[b, 4, 2, 2]",
                   "%y = NormMatMul(%x, %w, %m) return %y"),
            "f16[b, 4, 3]");
  EXPECT_THAT(refusalOf("%x: f16[4, 32], %w: f16[31, 3], %m: f32[4, 1, 2]",
                        "%y = NormMatMul(%x, %w, %m) return %y"),
              HasSubstr("inner sizes"));
  EXPECT_THAT(refusalOf("%x: f16[4, 32], %w: f16[32, 3], %m: f32[4, 2]",
                        "%y = NormMatMul(%x, %w, %m) return %y"),
              HasSubstr("moments"));
  EXPECT_THAT(refusalOf("%x: f16[4, 24], %w: f16[24, 3], %m: f32[4, 1, 2]",
                        "%y = NormMatMul(%x, %w, %m) return %y"),
              HasSubstr("a multiple of 32"));
  EXPECT_THAT(refusalOf("%x: f16[4, 32], %w: f16[32, 3], %m: f32[4, 1, 2], %s: f16[3]",
                        "%y = NormMatMul(%x, %w, %m, %s) return %y"),
              HasSubstr("a scale or bias"));
}

TEST(MomentMatMul, FindsTheMomentsOfWhatItsEpilogueStores) {
  expectValues(R"(
    %a: f32[1, 1] = constant [2]
    %b: f32[1, 32] = constant splat 3
    %y, %m = MomentMatMul(%a, %b) epilogue() {neg(x0:f32)} return %m)",
               {{-6, 0}});
  EXPECT_THAT(refusalOf("%a: f32[4, 8], %b: f32[8, 24]", "%y, %m = MomentMatMul(%a, %b) return %m"),
              HasSubstr("a multiple of 32"));
}

}  // namespace
}  // namespace camshaft::testing
