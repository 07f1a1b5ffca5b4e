#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

const Sizes kSizes = {{{"n", 1}, {"t", 1}}, {{"n", 2}, {"t", 5}}};

HarnessCase attention(const std::string& type, const std::string& operands,
                      const std::string& inputs) {
  return {.graph = "symbols n, t graph g(%q: " + type + "[n, t, 24], %k: " + type +
                   "[n, t, 12], %v: " + type + "[n, t, 140]" + inputs +
                   ") { %y, %s = LinearAttention(%q, %k, %v" + operands +
                   ") {q_heads = 4, kv_heads = 2, scale = 0.4} return %y, %s }",
          .sizes = kSizes,
          .ranges = {{"k", {-0.5, 0.5}}, {"d", {-1, 0}}, {"b", {0, 1}}}};
}

TEST(LinearAttentionKernels, EveryRule) {
  expectKernelsMatch(attention("f32", "", ""));
  expectKernelsMatch(attention("f32", ", _, %d", ", %d: f32[n, t, 2]"));
  expectKernelsMatch(attention("f32", ", %p, _, %b", ", %p: f32[n, 2, 6, 70], %b: f32[n, t, 1]"));
  expectKernelsMatch(attention("f16", ", %p, %d, %b",
                               ", %p: f32[n, 2, 6, 70], %d: f16[n, t, 12], %b: f16[n, t, 2]"));
}

}  // namespace
}  // namespace camshaft::cuda
