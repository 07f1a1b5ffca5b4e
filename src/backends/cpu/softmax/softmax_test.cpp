#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

TEST(Softmax, EveryAxisAndKind) {
  const std::vector<std::map<std::string, int64_t>> sizes = {
      {{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 5}}, {{"n", 7}, {"m", 130}}, {{"n", 70}, {"m", 17}}};
  for (const char* kind : {"softmax", "log_softmax"})
    for (const char* axis : {"0", "1", "2"})
      expectKernelsMatch(
          std::string("symbols n, m graph g(%x: f32[2, n, m]) { %y = Softmax(%x) {axis = ") + axis +
              ", kind = " + kind + "} return %y }",
          sizes);
}

TEST(Softmax, LargeValuesDoNotOverflow) {
  expectKernelsMatch({.graph = "graph g(%x: f32[9, 33]) { %y = Softmax(%x) {axis = 1} return %y }",
                      .ranges = {{"x", {-1000, 1000}}}});
}

TEST(Softmax, SaysWhatItDoesNotDo) {
  EXPECT_EQ(
      refusalsOf("graph g(%x: f32[9]) { %y = Softmax(%x) {axis = 0, kind = hardmax} return %y }"),
      "cpu/softmax_f32: no hardmax");
  EXPECT_EQ(refusalsOf("graph g(%x: f16[9]) { %y = Softmax(%x) {axis = 0} return %y }"),
            "cpu/softmax_f32: only f32 and bf16");
}

}  // namespace
}  // namespace camshaft::cpu
