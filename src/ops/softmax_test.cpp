#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Softmax, KeepsTheType) {
  EXPECT_EQ(typeOf("n, s", "%x: bf16[n, s]", "%y = Softmax(%x) {axis = 1} return %y"),
            "bf16[n, s]");
  EXPECT_THAT(refusalOf("%x: f32[2]", "%y = Softmax(%x) {axis = 1} return %y"),
              HasSubstr("node 'y' (Softmax) has axis 1 which f32[2] does not have"));
  EXPECT_THAT(refusalOf("%x: i32[2]", "%y = Softmax(%x) return %y"),
              HasSubstr("needs floating-point elements"));
}

TEST(Softmax, SurvivesExtremes) {
  expectValues("%x: f32[1, 3] = constant [1e30, 1e30, -inf] %y = Softmax(%x) {axis = 1} return %y",
               {{0.5, 0.5, 0}});
  expectValues(
      "%x: f16[2] = constant [60000, -60000] %y = Softmax(%x) {kind = log_softmax} return %y",
      {{0, -INFINITY}});
  expectValues("%x: f32[2] = constant [nan, 1] %y = Softmax(%x) return %y", {{NAN, NAN}});
  expectValues("%x: f32[2, 0] = constant [] %y = Softmax(%x) {axis = 0} return %y", {{}});
}

TEST(Softmax, MatchesOnnxruntime) {
  expectValues(
      R"(
    %x: f32[2, 2, 2] = constant [0.25, -1.75, 0.75, 1.75, 0.75, 1.5, 1.25, 0.25]
    %y = Softmax(%x) {axis = 1, kind = softmax}
    return %y)",
      {{0.3775407, 0.02931223, 0.6224594, 0.9706877, 0.3775407, 0.7772999, 0.6224594, 0.2227001}});
  expectValues(
      R"(
    %x: f32[2, 2, 2] = constant [0.25, -1.75, 0.75, 1.75, 0.75, 1.5, 1.25, 0.25]
    %y = Softmax(%x) {axis = 1, kind = log_softmax}
    return %y)",
      {{-0.974077, -3.52975, -0.474077, -0.02975042, -0.974077, -0.251929, -0.474077, -1.501929}});
  expectValues(R"(
    %x: f32[2, 2, 2] = constant [0.25, -1.75, 0.75, 1.75, 0.75, 1.5, 1.25, 0.25]
    %y = Softmax(%x) {axis = 1, kind = hardmax}
    return %y)",
               {{0, 0, 1, 1, 0, 1, 1, 0}});
}

}  // namespace
}  // namespace camshaft::testing
