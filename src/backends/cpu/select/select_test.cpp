#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

const std::vector<std::map<std::string, int64_t>> kSizes = {
    {{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 5}}, {{"n", 0}, {"m", 5}}, {{"n", 40}, {"m", 700}}};

TEST(Select, NonZero) {
  for (const char* type : {"bool", "i8", "i16", "i32", "i64", "u8", "f8e4m3", "f16", "f32", "f64"})
    for (const char* shape : {"[n, m]", "[m]", "[2, n, m]", "[]"})
      expectKernelsMatch({.graph = std::string("symbols n, m graph g(%x: ") + type + shape +
                                   ") { %p, %c = NonZero(%x) return %p, %c }",
                          .sizes = kSizes,
                          .ranges = {{"x", {0, std::string(type)[0] == 'f' ? 0.004 : 1}}}});
}

TEST(Select, NonMaxSuppression) {
  for (const char* attributes :
       {"limit = 7", "limit = 9223372036854775807", "limit = m, centred = true", "limit = 0"})
    for (const char* thresholds : {"", ", %t", ", %t, %t", ", _, %t"})
      expectKernelsMatch(
          {.graph = std::string(
                        "symbols n, m graph g(%b: f32[2, m, 4], %s: f32[2, n + 1, m], %t: f32[]) { "
                        "%p, %c = NonMaxSuppression(%b, %s") +
                    thresholds + ") {" + attributes + "} return %p, %c }",
           .sizes = {{{"n", 0}, {"m", 1}},
                     {{"n", 4}, {"m", 0}},
                     {{"n", 2}, {"m", 33}},
                     {{"n", 6}, {"m", 700}}},
           .ranges = {{"b", {0, 20}}, {"t", {0.1, 0.6}}}});
}

// Equal scores keep the order of the boxes.
TEST(Select, SuppressionOfEqualScores) {
  expectKernelsMatch({.graph = "graph g(%b: f32[1, 2000, 4], %s: f32[1, 1, 2000]) { %p, %c = "
                               "NonMaxSuppression(%b, %s) {limit = 2000} return %p, %c }",
                      .ranges = {{"b", {0, 1000}}, {"s", {0.5, 0.5}}}});
}

}  // namespace
}  // namespace camshaft::cpu
