#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

using ::testing::HasSubstr;

TEST(RecurrentKernels, Lstm) {
  expectKernelsMatch(
      "symbols t, n graph g(%x: f32[t, n, 6], %w: f32[2, 20, 6], %r: f32[2, 20, 5], %b: f32[2, 40],"
      "                     %h: f32[2, n, 5], %c: f32[2, n, 5], %p: f32[2, 15]) {"
      "  %y, %yh, %yc = Recurrent(%x, %w, %r, %b, _, %h, %c, %p)"
      "    {kind = lstm, direction = bidirectional, hidden = 5, clip = 1.5} return %y, %yh, %yc }",
      {{{"t", 4}, {"n", 3}}, {{"t", 0}, {"n", 1}}});
  expectKernelsMatch(
      "graph g(%x: f16[2, 3, 6], %w: f16[1, 12, 6], %r: f16[1, 12, 3]) {"
      "  %y, %yh, %yc = Recurrent(%x, %w, %r) {kind = lstm, direction = reverse, hidden = 3,"
      "    batch_first = true, input_forget = true} return %y, %yh, %yc }");
}

TEST(RecurrentKernels, WeightsInVectors) {
  expectKernelsMatch(HarnessCase{
      .graph = "graph g(%x: f16[3, 2, 264], %w: f16[1, 72, 264], %r: f16[1, 72, 24]) {"
               "  %y, %yh = Recurrent(%x, %w, %r) {kind = gru, hidden = 24} return %y, %yh }",
      .ranges = {{"w", {-0.1, 0.1}}}});
}

TEST(RecurrentKernels, Gru) {
  for (const char* linear : {"true", "false"})
    expectKernelsMatch(
        "symbols t, n graph g(%x: f32[t, n, 6], %w: f32[1, 12, 6], %r: f32[1, 12, 4], %b: f32[1, "
        "24]) {"
        "  %y, %yh = Recurrent(%x, %w, %r, %b) {kind = gru, hidden = 4, linear_before_reset = " +
            std::string(linear) + "} return %y, %yh }",
        {{{"t", 4}, {"n", 2}}});
}

TEST(RecurrentKernels, PlainWithLengths) {
  expectKernelsMatch(HarnessCase{
      .graph =
          "symbols t, n graph g(%x: f64[t, n, 4], %w: f64[2, 3, 4], %r: f64[2, 3, 3], %l: i32[n]) {"
          "  %y, %yh = Recurrent(%x, %w, %r, _, %l) {kind = rnn, hidden = 3,"
          "    direction = bidirectional, activations = \"relu,Tanh\"} return %y, %yh }",
      .sizes = {{{"t", 5}, {"n", 3}}},
      .values = {{"l", {2, 5, 0}}}});
}

TEST(RecurrentKernels, RefuseActivationsWithParameters) {
  EXPECT_THAT(refusalsOf("graph g(%x: f32[2, 3, 6], %w: f32[1, 3, 6], %r: f32[1, 3, 3]) {"
                         "  %y, %yh = Recurrent(%x, %w, %r) {kind = rnn, hidden = 3,"
                         "    activations = \"HardSigmoid\"} return %y, %yh }"),
              HasSubstr("activations"));
}

}  // namespace
}  // namespace camshaft::cuda
