#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(LayerNorm, Infers) {
  EXPECT_EQ(typeOf("n, s", "%x: f32[n, s, 8], %a: f32[8], %b: f32[1]",
                   "%y = LayerNorm(%x, %a, %b) {axis = 2} return %y"),
            "f32[n, s, 8]");
  EXPECT_THAT(refusalOf("%x: f32[2, 8], %a: f32[7]", "%y = LayerNorm(%x, %a) {axis = 1} return %y"),
              HasSubstr("node 'y' (LayerNorm) has a scale or bias of shape [7] that does not "
                        "broadcast to [2, 8]"));
  EXPECT_THAT(refusalOf("%x: f32[2, 6, 4]", "%y = GroupNorm(%x) {groups = 4} return %y"),
              HasSubstr("has 6 channels, which do not divide into 4 groups"));
  EXPECT_THAT(
      refusalOf("%x: f32[2, 6, 4], %a: f32[4]", "%y = GroupNorm(%x, %a) {groups = 2} return %y"),
      HasSubstr("needs a scale or bias of shape [6] and got f32[4]"));
  EXPECT_THAT(refusalOf("%x: f32[2, 6]", "%y = Lrn(%x) {size = 0} return %y"),
              HasSubstr("has size 0"));
}

TEST(LayerNorm, IsExactWhereTheMeanIsLarge) {
  expectValues(
      "%x: f32[2] = constant [16777214, 16777216] %y = LayerNorm(%x) {axis = 0, epsilon = 0} "
      "return %y",
      {{-1, 1}});
}

TEST(LayerNorm, BiasWithoutScale) {
  expectValues(R"(
    %x: f32[1, 2] = constant [-2, 2]
    %b: f32[2] = constant [10, 20]
    %y = LayerNorm(%x, _, %b) {axis = 1, epsilon = 0} return %y)",
               {{9, 21}});
}

TEST(PointwiseNorm, IsLayerNormOfTheExpression) {
  EXPECT_EQ(typeOf("n", "%x: f16[n, 4], %b: f16[4]",
                   "%y, %s = PointwiseNorm(%x, %b) {expr = cast(add(x0:f16, x1:f16), f32), "
                   "axis = 1, keeps_value = true} return %s"),
            "f32[n, 4]");
  const std::string operands = R"(
    %x: f32[2, 2] = constant [1, 2, -3, 5]
    %r: f32[2] = constant [1, -1]
    %scale: f32[2] = constant [2, 3]
    %a = Pointwise(%x, %r) {expr = add(x0:f32, x1:f32)}
    %b = LayerNorm(%a, %scale) {axis = 1}
    %y, %s = PointwiseNorm(%x, %r, %scale) {expr = add(x0:f32, x1:f32), axis = 1, keeps_value = true} )";
  expectValues(operands + "%d = Pointwise(%b, %y) {expr = sub(x0:f32, x1:f32)} return %d",
               {{0, 0, 0, 0}});
  expectValues(operands + "return %s", {{2, 1, -2, 4}});
}

TEST(PointwiseNorm, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusalOf("%x: f32[2, 4]",
                        "%y = PointwiseNorm(%x) {expr = relu(x0:f32), axis = 2} return %y"),
              HasSubstr("can't normalise f32[2, 4] from dimension 2 on"));
  EXPECT_THAT(refusalOf("%x: f16[2, 4]",
                        "%y = PointwiseNorm(%x) {expr = relu(x0:f32), axis = 1} return %y"),
              HasSubstr("reads input 0 as f32, which it is not"));
}

TEST(GroupNorm, ChannelsLastGivesTheSameNumbers) {
  // Two channels in one group over two pixels: 0, 4 | 2, 2 has mean 2 and variance 2.
  expectValues(R"(
    %x: f32[1, 2, 2] = constant [0, 2, 4, 2]
    %a: f32[2] = constant [1, 10]
    %b: f32[2] = constant [0, 5]
    %y = GroupNorm(%x, %a, %b) {groups = 1, epsilon = 0, channels_last = true} return %y)",
               {{-1.4142136, 5, 1.4142136, 5}});
}

TEST(Lrn, EvenWindowsReachFurtherForward) {
  expectValues(
      "%x: f32[1, 3] = constant [1, 2, 3] %y = Lrn(%x) {size = 2, alpha = 2, beta = 1, bias = 1} "
      "return %y",
      {{1.0 / 6, 2.0 / 14, 3.0 / 10}});
}

TEST(LayerNorm, MatchesOnnx) {
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [1.75, 0, -1.5, 0.25, 0.5, -1.5, -1.5, 0.75, -0.25, 0, 1.25, 0.75]
    %a: f32[2, 3] = constant [1.75, -1.5, 1, 0.25, -2, -1.75]
    %b: f32[2, 3] = constant [-0.5, 0.5, -1.5, 0.25, 2, -1.5]
    %y = LayerNorm(%x, %a, %b) {axis = 1, epsilon = 0.01}
    return %y)",
               {{2.297209, 0.3910178, -2.735131, 0.3226548, 0.9828331, 0.6614795, -3.729684,
                 -0.4689051, -1.961383, 0.2038617, -0.3991935, -2.630389}});
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [1.75, 0, -1.5, 0.25, 0.5, -1.5, -1.5, 0.75, -0.25, 0, 1.25, 0.75]
    %a: f32[3] = constant [-1.5, 2, -1]
    %y = LayerNorm(%x, %a) {axis = 2, epsilon = 0.01, rms = true}
    return %y)",
               {{-1.96706, 0, 1.124034, -0.4033968, 1.075725, 1.613587, 2.286494, 1.524329,
                 0.2540549, 0, 2.949694, -0.8849083}});
}

TEST(GroupNorm, MatchesOnnx) {
  expectValues(R"(
    %x: f32[1, 4, 3] = constant [1.5, -0.5, 1, -1.75, 0.5, 1.5, -0.75, 0.5, -1.25, -1.5, -2, 0]
    %a: f32[4] = constant [0, -1.75, -1.25, 0.5]
    %b: f32[4] = constant [-0.5, -1.25, -2, -2]
    %y = GroupNorm(%x, %a, %b) {groups = 2, epsilon = 0.01}
    return %y)",
               {{-0.5, -0.5, -0.5, 1.915849, -1.436226, -2.926038, -2.120037, -3.920593, -1.399815,
                 -2.384119, -2.672207, -1.519852}});
  expectValues(R"(
    %x: f32[1, 4, 3] = constant [1.5, -0.5, 1, -1.75, 0.5, 1.5, -0.75, 0.5, -1.25, -1.5, -2, 0]
    %a: f32[4] = constant [0, -1.75, -1.25, 0.5]
    %b: f32[4] = constant [-0.5, -1.25, -2, -2]
    %y = GroupNorm(%x, %a, %b) {groups = 0, epsilon = 0.01}
    return %y)",
               {{-0.5, -0.5, -0.5, 1.104223, -1.785051, -3.069172, -1.579262, -3.682952, -0.7377863,
                 -2.194772, -2.486931, -1.318297}});
}

TEST(Lrn, MatchesOnnxruntime) {
  expectValues(R"(
    %x: f32[1, 5, 2] = constant [1, -3, 3, 0, -2, 1, -3, -2, 0, 1]
    %y = Lrn(%x) {size = 3, alpha = 0.5, beta = 0.75, bias = 2}
    return %y)",
               {{0.3773952, -1.172385, 0.9988601, 0, -0.5445455, 0.4579064, -1.028679, -0.8773826,
                 0, 0.4579064}});
}

}  // namespace
}  // namespace camshaft::testing
