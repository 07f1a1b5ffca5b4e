#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

HarnessCase deformableCase(const std::string& type, const std::string& positions, int size) {
  return {.graph = str("symbols n, p, q graph g(%v: ", type, "[n, p, 3, ", size,
                       "], %l: ", positions, "[n, q, 3, 2, 4, 2], %w: ", type,
                       "[n, q, 3, 2, 4]) { %s: i64[2, 2] = constant [5, 7, 2, 3] %b: i32[2] = "
                       "constant [0, 35] %y = DeformableAttention(%v, %s, %b, %l, %w) return %y }"),
          .sizes = {{{"n", 2}, {"p", 41}, {"q", 37}}, {{"n", 1}, {"p", 40}, {"q", 1}}},
          .ranges = {{"l", {-0.3, 1.3}}}};
}

TEST(DeformableAttentionKernels, EveryTypeAndSize) {
  for (const char* type : {"f32", "f16", "bf16", "f64"})
    for (int size : {1, 6, 32}) expectKernelsMatch(deformableCase(type, "f32", size));
  expectKernelsMatch(deformableCase("f16", "f16", 8));
}

TEST(DeformableAttentionKernels, LocationsAndLevelsThatAreNoPlaces) {
  const double inf = std::numeric_limits<double>::infinity();
  expectKernelsMatch(
      {.graph = "graph g(%v: f32[1, 6, 1, 3], %s: i32[3, 2], %b: i32[3], %l: f32[1, 5, 1, 3, 2, "
                "2], %w: f32[1, 5, 1, 3, 2]) { %y = DeformableAttention(%v, %s, %b, %l, %w) return "
                "%y }",
       .values = {{"s", {2, 3, -2, 2147483647, 3, 3}},
                  {"b", {0, 2147483647, 4}},
                  {"l", {0.5, std::nan(""), inf, 0.2, 0.4, 0.9, -inf, 1e30, 0.1, 0.1, 0.7}}}});
}

}  // namespace
}  // namespace camshaft::cuda
