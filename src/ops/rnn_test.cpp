#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Recurrent, Infers) {
  const std::string inputs = "%x: f32[s, b, 3], %a: f32[2, 20, 3], %b: f32[2, 20, 5]";
  EXPECT_EQ(
      typeOf(
          "s, b", inputs,
          "%y, %z, %u = Recurrent(%x, %a, %b) {direction = bidirectional, hidden = 5} return %y"),
      "f32[s, 2, b, 5]");
  EXPECT_EQ(
      typeOf(
          "s, b", inputs,
          "%y, %z, %u = Recurrent(%x, %a, %b) {direction = bidirectional, hidden = 5} return %u"),
      "f32[2, b, 5]");
  EXPECT_EQ(
      typeOf(
          "s, b", "%x: f32[b, s, 3], %a: f32[1, 15, 3], %b: f32[1, 15, 5]",
          "%y, %z = Recurrent(%x, %a, %b) {kind = gru, hidden = 5, batch_first = true} return %y"),
      "f32[b, s, 1, 5]");
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  EXPECT_THAT(
      refusalOf("%x: f32[7, 1, 3], %a: f32[1, 20, 4], %b: f32[1, 20, 5]",
                "%y, %z, %u = Recurrent(%x, %a, %b) {hidden = 5} return %y"),
      HasSubstr(
          "node 'y' (Recurrent) needs input weights of shape [1, 20, 3] and got f32[1, 20, 4]"));
  EXPECT_THAT(
      refusalOf(
          "%x: f32[7, 1, 3], %a: f32[1, 5, 3], %b: f32[1, 5, 5]",
          R"(%y, %z = Recurrent(%x, %a, %b) {kind = rnn, hidden = 5, activations = "Swish"} return %y)"),
      HasSubstr("names the activation 'Swish'"));
  EXPECT_THAT(
      refusalOf(
          "%x: f32[7, 1, 3], %a: f32[1, 5, 3], %b: f32[1, 5, 5]",
          R"(%y, %z = Recurrent(%x, %a, %b) {kind = rnn, hidden = 5, activations = "Relu,Tanh"} return %y)"),
      HasSubstr("has 2 activations where it needs 1"));
}

TEST(Recurrent, ShortSequencesEndEarly) {
  // h += x with Affine(1, 0): running sums, the second sequence only one long.
  const std::string weights = R"(
    %a: f32[1, 1, 1] = constant [1]
    %b: f32[1, 1, 1] = constant [1]
    %d: i32[2] = constant [3, 1] )";
  expectValues(weights + R"(
    %x: f32[3, 2, 1] = constant [1, 10, 2, 20, 3, 30]
    %y, %z = Recurrent(%x, %a, %b, _, %d) {kind = rnn, hidden = 1, activations = "affine"} return
        %y, %z)",
               {{1, 10, 3, 0, 6, 0}, {6, 10}});
  expectValues(weights + R"(
    %x: f32[2, 3, 1] = constant [1, 2, 3, 10, 20, 30]
    %y, %z = Recurrent(%x, %a, %b, _, %d) {kind = rnn, hidden = 1, activations = "affine",
        direction = reverse,
        batch_first = true} return %y, %z)",
               {{6, 5, 3, 10, 0, 0}, {6, 10}});
}

TEST(Recurrent, MatchesOnnxruntime) {
  expectValues(R"(
    %x: f32[2, 1, 1] = constant [0, 1]
    %a: f32[1, 8, 1] = constant [-1.25, -0.5, -1.25, -1.5, 0.75, 1.5, -1.5, 0.75]
    %b: f32[1, 8, 2] = constant [0.75, 1, 0.75, 0.25, -1.75, 1.25, -1.25, -0.25, 2, 0.25, -1,
        -1.75, -1, 0.25, 1.5, 1.25]
    %c: f32[1, 16] = constant [-1.25, 0.75, 0.75, 1.25, 0, 0, -0.25, 1.5, 0, -1.75, 0, 1.5, 1.5,
        -0.5, 1.5, -1.75]
    %e: f32[1, 1, 2] = constant [1, 0.5]
    %f: f32[1, 1, 2] = constant [-2, -0.25]
    %g: f32[1, 6] = constant [-0.5, -0.25, -1, 1.5, 1.5, -1.5]
    %y, %z, %u = Recurrent(%x, %a, %b, %c, _, %e, %f, %g) {kind = lstm, direction = forward,
        hidden = 2}
    return %y, %z, %u)",
               {{-0.5140212, 0.3597069, -0.3066042, 0.2326774},
                {-0.3066042, 0.2326774},
                {-0.4155384, 0.2644752}});
  expectValues(R"(
    %x: f32[3, 2, 1] = constant [1, 0.5, -1.25, -0.25, -1, 0]
    %a: f32[1, 4, 1] = constant [-1.5, 0, -1.75, -1.5]
    %b: f32[1, 4, 1] = constant [1.5, 0, -1, 1.5]
    %c: f32[1, 8] = constant [-0.75, -1.5, 1.75, -2, 2, -1.75, 1.25, -0.25]
    %d: i32[2] = constant [3, 1]
    %y, %z, %u = Recurrent(%x, %a, %b, %c, %d) {kind = lstm, direction = reverse, hidden = 1, clip
        = 0.5, input_forget = true}
    return %y, %z, %u)",
               {{-0.1503934, -0.1056999, -0.1422325, 0, -0.1056999, 0},
                {-0.1503934, -0.1056999},
                {-0.4216864, -0.2876491}});
  expectValues(R"(
    %x: f32[2, 1, 1] = constant [-1.5, 2]
    %a: f32[2, 4, 1] = constant [-0.25, -2, 1, 2, -1.5, 0.25, 1.75, -1.5]
    %b: f32[2, 4, 1] = constant [1.25, -0.25, -2, -1.25, 1.5, 1, 1.75, 0.25]
    %c: f32[2, 8] = constant [-1.5, -1, -0.75, -1, -1.75, 1.5, -1.75, 1.25, 1, -0.25, 0.5, -0.5,
        0, 1, -0.25, 2]
    %y, %z, %u = Recurrent(%x, %a, %b, %c) {kind = lstm, direction = bidirectional, hidden = 1,
        activations = "HardSigmoid,Relu,Softsign,Sigmoid,LeakyRelu,Tanh", activation_alpha =
        [0.25, 0.125], activation_beta = [0.5]}
    return %y, %z, %u)",
               {{0, 0.5875893, 0, -0.01737018}, {0, 0.5875893}, {0, 3.600444}});
  expectValues(R"(
    %x: f32[2, 1, 1] = constant [1.5, -1.75]
    %a: f32[1, 6, 1] = constant [1.75, -1.5, -1.25, -0.5, 1.25, 0]
    %b: f32[1, 6, 2] = constant [1, -1.75, 1, -2, -1, -1.25, 1.5, -0.5, 1.25, 1, 0.75, 0.5]
    %c: f32[1, 12] = constant [1.5, -2, 0.75, -2, 0.5, -0.25, 2, 1.5, -1.75, 1.75, -1.25, -0.5]
    %e: f32[1, 1, 2] = constant [0.25, 1.75]
    %y, %z = Recurrent(%x, %a, %b, %c, _, %e) {kind = gru, direction = forward, hidden = 2,
        linear_before_reset = true}
    return %y, %z)",
               {{0.2757604, -0.1416387, -0.07325722, -0.1633044}, {-0.07325722, -0.1633044}});
  expectValues(R"(
    %x: f32[2, 2, 1] = constant [-0.75, 1.75, -0.75, -0.5]
    %a: f32[2, 3, 1] = constant [1.75, 1, 0.75, -0.5, -2, -1.5]
    %b: f32[2, 3, 1] = constant [-0.75, 0.25, 1.5, -1.75, -2, 0.75]
    %c: f32[2, 6] = constant [-1, 1.25, 0.25, 1.75, -0.25, -0.25, 1.25, -1.75, -1.25, 1.75, -1.5,
        1.5]
    %d: i32[2] = constant [1, 2]
    %y, %z = Recurrent(%x, %a, %b, %c, %d) {kind = gru, direction = bidirectional, hidden = 1,
        clip = 0.5}
    return %y, %z)",
               {{-0.2876491, 0.174468, 0.174468, -0.06586879, 0, -0.04164759, 0, 0.174468},
                {-0.2876491, -0.04164759, 0.174468, -0.06586879}});
  expectValues(R"(
    %x: f32[3, 1, 1] = constant [0.75, 2, -1]
    %a: f32[1, 2, 1] = constant [0.5, -2]
    %b: f32[1, 2, 2] = constant [0.75, -2, -0.5, -0.75]
    %y, %z = Recurrent(%x, %a, %b) {kind = rnn, direction = reverse, hidden = 2, activations =
        "Relu"}
    return %y, %z)",
               {{0.375, 0, 0, 0, 0, 2}, {0.375, 0}});
}

}  // namespace
}  // namespace camshaft::testing
