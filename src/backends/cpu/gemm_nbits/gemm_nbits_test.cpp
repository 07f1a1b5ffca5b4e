#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

using ::testing::HasSubstr;

TEST(GemmNBits, MatchesWithAndWithoutZeroPoints) {
  for (const int bits : {2, 4, 8})
    for (const std::string zeros : {"", "%z: u8[37, 3], ", "%z: f32[37, 3], "})
      expectKernelsMatch(
          {.graph = "symbols n graph g(%x: f32[n, 80], %w: u8[37, 3, " + std::to_string(4 * bits) +
                    "], %s: f32[37, 3], " + zeros +
                    "%b: f32[37], %r: f32[n, 37]) { %y = MatMulNBits(%x, %w, %s" +
                    (zeros.empty() ? "" : ", %z") + ") {bits = " + std::to_string(bits) +
                    ", block_size = 32} epilogue(%b, %r) "
                    "{gelu(add(add(mul(x0:f32, 0.5:f32), x1:f32), x2:f32))} return %y }",
           .sizes = {{{"n", 1}}, {{"n", 2}}, {{"n", 7}}, {{"n", 21}}, {{"n", 0}}},
           .constants = zeros.empty() ? std::set<std::string>{"w", "s", "b"}
                                      : std::set<std::string>{"w", "s", "b", "z"},
           .ranges = {{"w", {0, 255}}, {"z", {0, (1 << bits) - 1}}},
           .tolerance = 1e-4});
}

TEST(GemmNBits, TakesLongRows) {
  expectKernelsMatch({.graph =
                          "graph g(%x: f32[3, 1000], %w: u8[64, 8, 64], %s: f32[64, 8]) { "
                          "%y = MatMulNBits(%x, %w, %s) {bits = 4, block_size = 128} return %y }",
                      .constants = {"w", "s"},
                      .ranges = {{"w", {0, 255}}, {"s", {0.01, 0.02}}},
                      .tolerance = 1e-4});
}

TEST(GemmNBits, SaysWhatItDoesNotTake) {
  EXPECT_THAT(refusalsOf("graph g(%x: f32[1, 8], %w: u8[1, 1, 2], %s: f32[1, 1]) { "
                         "%y = MatMulNBits(%x, %w, %s) {bits = 2, block_size = 8} return %y }"),
              HasSubstr("needs blocks of whole words, 16 weights"));
}

}  // namespace
}  // namespace camshaft::cpu
