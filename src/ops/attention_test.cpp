#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Attention, Infers) {
  EXPECT_EQ(
      typeOf(
          "b, q, k",
          "%x: f16[b, 8, q, 64], %a: f16[b, 2, k, 64], %b: f16[b, 2, k, 32], %c: bool[b, 1, q, k]",
          "%y = Attention(%x, %a, %b, %c) return %y"),
      "f16[b, 8, q, 32]");
  EXPECT_EQ(typeOf("q, k", "%x: f32[1, 8, q, 64], %a: f32[1, 8, 64, k], %b: f32[1, 8, k, 64]",
                   "%y = Attention(%x, %a, %b) {transposed_keys = true} return %y"),
            "f32[1, 8, q, 64]");
}

TEST(Attention, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusalOf("%x: f32[1, 8, 5, 64], %a: f32[1, 3, 7, 64], %b: f32[1, 3, 7, 64]",
                        "%y = Attention(%x, %a, %b) return %y"),
              HasSubstr("node 'y' (Attention) has 8 query heads, which 3 key heads do not divide"));
  EXPECT_THAT(refusalOf("%x: f32[1, 8, 5, 64], %a: f32[1, 8, 7, 32], %b: f32[1, 8, 7, 64]",
                        "%y = Attention(%x, %a, %b) return %y"),
              HasSubstr("has 32 features per key where its queries have 64"));
  EXPECT_THAT(
      refusalOf("%x: f32[1, 8, 5, 64], %a: f32[1, 8, 7, 64], %b: f32[1, 8, 7, 64], %c: f32[5, 5]",
                "%y = Attention(%x, %a, %b, %c) return %y"),
      HasSubstr("has a mask of shape [5, 5] that does not broadcast to [1, 8, 5, 7]"));
}

TEST(Attention, ReadsAsManyKeysAsThereAre) {
  constexpr char kOperands[] = "%x: f32[1, 8, 5, 64], %a: f32[1, 8, 7, 64], %b: f32[1, 8, 9, 32]";
  EXPECT_EQ(typeOf("n", str(kOperands, ", %c: f32[5, n]"),
                   "%y = Attention(%x, %a, %b, %c) {keys = [n]} return %y"),
            "f32[1, 8, 5, 32]");
  EXPECT_THAT(refusalOf(kOperands, "%y = Attention(%x, %a, %b) {keys = [8]} return %y"),
              HasSubstr("has 7 keys where it needs at least 8"));
  EXPECT_THAT(refusalOf(kOperands, "%y = Attention(%x, %a, %b) {keys = [6, 7]} return %y"),
              HasSubstr("needs one number of keys, not 2"));
}

TEST(Attention, InfersTokens) {
  EXPECT_EQ(typeOf("b, s", "%x: f16[b, s, 2304], %c: f32[1, 1, s]",
                   "%y = Attention(%x, %x, %x, %c) {heads = 12, kv_heads = 12, size = 64, "
                   "value_size = 64, offsets = [0, 768, 1536]} return %y"),
            "f16[b, s, 768]");
  EXPECT_EQ(typeOf("b, s, t", "%x: f32[b, s, 64], %k: f32[b, 2, t, 16], %v: f32[b, 2, t, 8]",
                   "%y = Attention(%x, %k, %v) {heads = 4, kv_heads = 2, size = 16, "
                   "value_size = 8} return %y"),
            "f32[b, s, 32]");
}

TEST(Attention, RefusesTokensThatDoNotFit) {
  EXPECT_THAT(refusalOf("%x: f32[1, 5, 64]", "%y = Attention(%x, %x, %x) return %y"),
              HasSubstr("queries, keys and values"));
  EXPECT_THAT(refusalOf("%x: f32[1, 5, 64]",
                        "%y = Attention(%x, %x, %x) {heads = 2, kv_heads = 2, size = 16, "
                        "value_size = 16, offsets = [0, 32, 48]} return %y"),
              HasSubstr("has 64 columns in 'x' where it needs at least 80"));
  EXPECT_THAT(
      refusalOf("%x: f32[1, 5, 64]", "%y = Attention(%x, %x, %x) {heads = 2, size = 16} return %y"),
      HasSubstr("needs positive kv_heads, size and value_size"));
}

// Two heads of size 1, [q0 q1 k0 k1 v0 v1] per token: the same as with heads apart.
TEST(Attention, ReadsPackedTokens) {
  const std::string heads = R"(
    %q: f32[1, 2, 2, 1] = constant [1, 3, 2, 4]
    %k: f32[1, 2, 2, 1] = constant [0.5, -1, 1, 0.25]
    %v: f32[1, 2, 2, 1] = constant [10, 30, 20, 40]
    %y = Attention(%q, %k, %v) {causal = true}
    %t = Transpose(%y) {order = [0, 2, 1, 3]} %z = Reshape(%t) {shape = [4]} )";
  const std::string packed = R"(
    %x: f32[1, 2, 6] = constant [1, 2, 0.5, 1, 10, 20, 3, 4, -1, 0.25, 30, 40]
    %a = Attention(%x, %x, %x)
         {causal = true, heads = 2, kv_heads = 2, size = 1, value_size = 1, offsets = [0, 2, 4]}
    %b = Reshape(%a) {shape = [4]} )";
  expectValues(heads + packed + "%d = Pointwise(%z, %b) {expr = sub(x0:f32, x1:f32)} return %d",
               {{0, 0, 0, 0}});
}

TEST(Attention, CausalAlignment) {
  // Equal scores: each query averages the values it sees.
  const std::string operands = R"(
    %x: f32[1, 1, 2, 1] = constant [0, 0]
    %a: f32[1, 1, 4, 1] = constant [1, 2, 3, 4]
    %b: f32[1, 1, 4, 1] = constant [2, 4, 6, 8] )";
  expectValues(operands + "%y = Attention(%x, %a, %b) return %y", {{5, 5}});
  expectValues(operands + "%y = Attention(%x, %a, %b) {causal = true} return %y", {{2, 3}});
  expectValues(operands + "%y = Attention(%x, %a, %b) {causal = true, align_end = true} return %y",
               {{4, 5}});
}

// Equal scores: a pixel gets the mean of its window, whose columns are shifted by one.
TEST(Attention, ReadsWindowsOfImages) {
  expectValues(R"(
    %x: f32[1, 8, 1] = constant [0, 0, 0, 0, 0, 0, 0, 0]
    %b: f32[1, 8, 1] = constant [1, 2, 3, 4, 6, 6, 7, 20]
    %y = Attention(%x, %x, %b) {
      heads = 1, kv_heads = 1, size = 1, value_size = 1, windows = [2, 4, 2, 2, 0, 1]}
    return %y)",
               {{7.75, 4.5, 4.5, 7.75, 7.75, 4.5, 4.5, 7.75}});
}

TEST(Attention, RefusesWindowsThatDoNotFit) {
  const auto refusal = [](const char* operands, const char* windows) {
    return refusalOf(operands, str("%y = Attention(%x, %x, %x) {heads = 1, kv_heads = 1, size = 1, "
                                   "value_size = 1, windows = ",
                                   windows, "} return %y"));
  };
  for (const char* windows : {"[2, 4]", "[2, 4, 2, 3, 0, 0]", "[2, 4, 2, 2, 0, 4]",
                              "[2, 4, 2, 0, 0, 0]", "[2, 4, 2, 2, -1, 0]"})
    EXPECT_THAT(refusal("%x: f32[1, 8, 1]", windows),
                HasSubstr("needs sizes of an image, sizes of windows that divide it"));
  EXPECT_THAT(refusal("%x: f32[1, 9, 1]", "[2, 4, 2, 2, 0, 0]"),
              HasSubstr("node 'y' (Attention) has 9 tokens in 'x'"));
  EXPECT_THAT(refusalOf("%x: f32[1, 1, 8, 1]",
                        "%y = Attention(%x, %x, %x) {windows = [2, 4, 2, 2, 0, 0]} return %y"),
              HasSubstr("reads windows of tokens, all of them"));
}

TEST(Attention, MatchesOnnx) {
  expectValues(R"(
    %x: f32[1, 2, 2, 2] = constant [-1.5, -0.75, -1.75, -1.5, -1.25, -0.75, 1.75, -0.5]
    %a: f32[1, 1, 3, 2] = constant [-1.75, 1.75, 0.25, -1.75, -1.75, -1.75]
    %b: f32[1, 1, 3, 1] = constant [1.75, 0.25, 0.75]
    %y = Attention(%x, %a, %b) {scale = 0.5, causal = true, softcap = 2}
    return %y)",
               {{1.75, 0.7219756, 1.75, 0.4073994}});
  expectValues(R"(
    %x: f32[1, 2, 2, 2] = constant [-1.5, -0.75, -1.75, -1.5, -1.25, -0.75, 1.75, -0.5]
    %a: f32[1, 1, 3, 2] = constant [-1.75, 1.75, 0.25, -1.75, -1.75, -1.75]
    %b: f32[1, 1, 3, 1] = constant [1.75, 0.25, 0.75]
    %c: bool[2, 3] = constant [1, 0, 1, 0, 0, 0]
    %y = Attention(%x, %a, %b, %c) {scale = 0.5}
    return %y)",
               {{0.9620688, 0, 0.9620688, 0}});
  expectValues(R"(
    %x: f32[1, 2, 2, 2] = constant [-1.5, -0.75, -1.75, -1.5, -1.25, -0.75, 1.75, -0.5]
    %a: f32[1, 1, 2, 3] = constant [-1.75, 0.25, -1.75, 1.75, -1.75, -1.75]
    %b: f32[1, 1, 3, 1] = constant [1.75, 0.25, 0.75]
    %c: f32[1, 2, 1, 3] = constant [2, -0.5, 1.75, -0.5, 0.75, 1.5]
    %y = Attention(%x, %a, %b, %c) {scale = 0.5, transposed_keys = true}
    return %y)",
               {{0.9938316, 0.8254561, 0.723337, 0.4048797}});
}

}  // namespace
}  // namespace camshaft::testing
