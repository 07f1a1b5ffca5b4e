#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

TEST(CudaSelect, NonZero) {
  for (const char* type : {"bool", "i8", "i64", "f16", "bf16", "f32", "f64"})
    for (const char* shape : {"[n, m]", "[m]", "[2, n, m]"})
      expectKernelsMatch({.graph = std::string("symbols n, m graph g(%x: ") + type + shape +
                                   ") { %p, %c = NonZero(%x) return %p, %c }",
                          .sizes = {{{"n", 1}, {"m", 1}},
                                    {{"n", 3}, {"m", 5}},
                                    {{"n", 0}, {"m", 5}},
                                    {{"n", 17}, {"m", 1300}}},
                          .values = {{"x", {0, 1, 0, -0.0, 2, 0, 0}}}});
}

TEST(CudaSelect, NonMaxSuppression) {
  for (const char* attributes :
       {"limit = 7", "limit = 9223372036854775807", "limit = m, centred = true"})
    for (const char* thresholds : {"", ", %t, %t", ", _, %t"})
      expectKernelsMatch(
          {.graph = std::string("symbols n, m graph g(%b: f32[2, m, 4], %s: f32[2, n, m], %t: "
                                "f32[]) { %p, %c = NonMaxSuppression(%b, %s") +
                    thresholds + ") {" + attributes + "} return %p, %c }",
           .sizes = {{{"n", 1}, {"m", 1}},
                     {{"n", 2}, {"m", 0}},
                     {{"n", 0}, {"m", 9}},
                     {{"n", 3}, {"m", 33}},
                     {{"n", 2}, {"m", 700}}},
           .ranges = {{"b", {0, 20}}, {"t", {0.1, 0.6}}}});
}

// More candidates than fit shared memory, and equal scores.
TEST(CudaSelect, ManyCandidates) {
  expectKernelsMatch({.graph = "graph g(%b: f32[1, 2500, 4], %s: f32[1, 1, 2500]) { %p, %c = "
                               "NonMaxSuppression(%b, %s) {limit = 300} return %p, %c }",
                      .ranges = {{"b", {0, 1000}}, {"s", {0.5, 0.5}}}});
}

}  // namespace
}  // namespace camshaft::cuda
