#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(LinearAttention, Infers) {
  const std::string operands = "%q: f16[n, t, 24], %k: f16[n, t, 12], %v: f16[n, t, 10]";
  EXPECT_EQ(typeOf("n, t", operands,
                   "%y, %s = LinearAttention(%q, %k, %v) {q_heads = 4, kv_heads = 2} return %y"),
            "f16[n, t, 20]");
  EXPECT_EQ(typeOf("n, t", operands,
                   "%y, %s = LinearAttention(%q, %k, %v) {q_heads = 4, kv_heads = 2} return %s"),
            "f16[n, 2, 6, 5]");
  EXPECT_THAT(refusalOf("%q: f32[1, 1, 6], %k: f32[1, 1, 6], %v: f32[1, 1, 6]",
                        "%y, %s = LinearAttention(%q, %k, %v) {q_heads = 3, kv_heads = 2} return "
                        "%y"),
              HasSubstr("3 heads for 2"));
}

// One head of size 1: S = 2*3 = 6, then 6 + 1*4 = 10.
TEST(LinearAttention, AddsUp) {
  expectValues(R"(
    %q: f32[1, 2, 1] = constant [1, 10]
    %k: f32[1, 2, 1] = constant [2, 1]
    %v: f32[1, 2, 1] = constant [3, 4]
    %y, %s = LinearAttention(%q, %k, %v) {scale = 0.5} return %y, %s)",
               {{3, 50}, {10}});
}

// S = 8; halved, S = 4; u = 0.5 * (6 - 4) = 1; S = 5. Two heads of q read it.
TEST(LinearAttention, DecaysAndCorrects) {
  expectValues(R"(
    %q: f32[1, 1, 2] = constant [1, 2]
    %k: f32[1, 1, 1] = constant [1]
    %v: f32[1, 1, 1] = constant [6]
    %p: f32[1, 1, 1, 1] = constant [8]
    %d: f32[1, 1, 1] = constant [-0.6931472]
    %b: f32[1, 1, 1] = constant [0.5]
    %y, %s = LinearAttention(%q, %k, %v, %p, %d, %b) {q_heads = 2} return %y, %s)",
               {{5, 10}, {5}});
}

}  // namespace
}  // namespace camshaft::testing
