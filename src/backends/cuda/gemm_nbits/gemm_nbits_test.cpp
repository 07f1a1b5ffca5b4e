#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "backends/cuda/gemm_nbits/tile_config.h"
#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

using ::testing::HasSubstr;

struct Weights {
  int64_t bits = 4, blockSize = 32;
  std::string zeros;  // their type; empty: none
  std::pair<double, double> zeroRange = {0, 0};
};

// n rows by [columns, depth] weights, with an epilogue.
HarnessCase caseOf(const std::string& type, int64_t depth, int64_t columns, const Weights& w) {
  const int64_t blocks = (depth + w.blockSize - 1) / w.blockSize;
  const std::string perBlock = str("[", columns, ", ", blocks, "]");
  return {.graph =
              str("symbols n graph g(%x: ", type, "[n, ", depth, "], %w: u8[", columns, ", ",
                  blocks, ", ", w.blockSize * w.bits / 8, "], %s: ", type, perBlock, ", ",
                  w.zeros.empty() ? "" : str("%z: ", w.zeros, perBlock, ", "), "%r: ", type, "[n, ",
                  columns, "]) { %y = MatMulNBits(%x, %w, %s", w.zeros.empty() ? "" : ", %z",
                  ") {bits = ", w.bits, ", block_size = ", w.blockSize,
                  "} epilogue(%r) {add(x0:", type, ", x1:", type, ")} return %y }"),
          .sizes = {{{"n", 1}}, {{"n", 3}}, {{"n", 21}}},
          .constants = w.zeros.empty() ? std::set<std::string>{"w", "s"}
                                       : std::set<std::string>{"w", "s", "z"},
          .ranges = {{"w", {0, 255}}, {"s", {0.01, 0.02}}, {"z", w.zeroRange}},
          .tolerance = type == "f32"   ? 1e-4
                       : type == "f16" ? 1e-2
                                       : 6e-2};
}

TEST(CudaGemmNBits, HalvesByAllBits) {
  for (const int64_t bits : {2, 4, 8})
    expectKernelsMatch(caseOf(
        "f16", 296, 37, {.bits = bits, .zeros = bits == 4 ? "u8" : "", .zeroRange = {0, 15}}));
}

// Bytes have more bits than bf16, and are unpacked in another way.
TEST(CudaGemmNBits, BFloat16ByAllBits) {
  for (const int64_t bits : {2, 4, 8})
    expectKernelsMatch(
        caseOf("bf16", 136, 20,
               {.bits = bits, .zeros = bits == 4 ? "" : "u8", .zeroRange = {0, (1 << bits) - 1}}));
}

TEST(CudaGemmNBits, FloatsInThreeTerms) {
  for (const int64_t bits : {4, 8})
    expectKernelsMatch(caseOf(
        "f32", 136, 20, {.bits = bits, .zeros = bits == 4 ? "" : "u8", .zeroRange = {0, 255}}));
}

TEST(CudaGemmNBits, BlocksOfAnySize) {
  for (const int64_t blockSize : {16, 48, 256}) {
    HarnessCase one = caseOf("f16", 520, 18, {.blockSize = blockSize});
    one.only = "cuda/gemm_nbits";
    expectKernelsMatch(one);
  }
}

TEST(CudaGemmNBits, ZeroPointsBetweenNumbers) {
  expectKernelsMatch(caseOf("f16", 136, 18, {.zeros = "f16", .zeroRange = {3.0, 12.0}}));
}

TEST(CudaGemmNBits, ManyRows) {
  HarnessCase many = caseOf("f16", 160, 70, {.zeros = "u8", .zeroRange = {0, 15}});
  many.sizes = {{{"n", 150}}};
  expectKernelsMatch(many);
}

// As many as are multiplied while weights come from memory, and not a whole number of their steps.
TEST(CudaGemmNBits, StreamsOfFewRows) {
  for (const int64_t bits : {2, 4, 8})
    for (const char* zeros : {"", "u8", "f16"}) {
      if (bits == 8 && zeros[0] == 'f') continue;  // bits of f16 that other tiles lose
      HarnessCase few = caseOf("f16", 1192, 52,
                               {.bits = bits,
                                .blockSize = bits == 8 ? 128 : 32,
                                .zeros = zeros,
                                .zeroRange = {0, (1 << bits) - 1}});
      few.sizes = {{{"n", 1}}, {{"n", 3}}, {{"n", 8}}};
      few.only = "cuda/gemm_nbits";
      expectKernelsMatch(few);
    }
  for (const char* type : {"bf16", "f32"}) {
    HarnessCase few = caseOf(type, 264, 20, {.zeros = "u8", .zeroRange = {0, 15}});
    few.sizes = {{{"n", 2}}};
    few.only = "cuda/gemm_nbits";
    expectKernelsMatch(few);
  }
}

TEST(CudaGemmNBits, OneRowOfKnownSize) {
  expectKernelsMatch({.graph =
                          "graph g(%x: f16[1, 1, 2048], %w: u8[33, 64, 16], %s: f16[33, 64]) { "
                          "%y = MatMulNBits(%x, %w, %s) {bits = 4, block_size = 32} return %y }",
                      .constants = {"w", "s"},
                      .ranges = {{"w", {0, 255}}, {"s", {0.01, 0.02}}},
                      .tolerance = 1e-2});
  // More columns than blocks run at once.
  expectKernelsMatch({.graph =
                          "graph g(%x: f16[1, 256], %w: u8[13000, 2, 64], %s: f16[13000, 2]) { "
                          "%y = MatMulNBits(%x, %w, %s) {bits = 4, block_size = 128} return %y }",
                      .constants = {"w", "s"},
                      .ranges = {{"w", {0, 255}}, {"s", {0.01, 0.02}}},
                      .tolerance = 1e-2,
                      .only = "cuda/gemm_nbits"});
}

// Those of a Llama-8B's layer on an H200: what is timed alone is not what is fast in a step.
TEST(CudaGemmNBits, ATokensProductsAreStreamsByTheirSize) {
  const auto tilesOf = [](int64_t rows, int64_t columns, int64_t depth, int64_t bits) {
    const UnpackingProblem problem{
        .rows = rows,
        .mostRows = rows,
        .layout = {.columns = columns, .depth = depth, .bits = bits, .blockSize = 32}};
    std::string names;
    for (const int64_t tile : promisingTiles(problem, BuildTarget{}, 5))
      names += str(names.empty() ? "" : " ", toString(unpackTile(tile)));
    return names;
  };
  EXPECT_EQ(tilesOf(1, 4096, 4096, 4), "stream16x1");  // holds all of its weights
  EXPECT_EQ(tilesOf(1, 6144, 4096, 4), "stream8x2_wide");
  EXPECT_EQ(tilesOf(1, 28672, 4096, 4), "stream8x2_wide");
  EXPECT_EQ(tilesOf(1, 4096, 14336, 4), "stream8x2_wide");
  // Rows too long for two blocks, more of them, and more bits are timed.
  for (const std::string& timed :
       {tilesOf(1, 4096, 40960, 4), tilesOf(2, 28672, 4096, 4), tilesOf(1, 28672, 4096, 8)})
    EXPECT_THAT(timed, HasSubstr(" "));
}

// Pairs of columns that one block sums and joins, with work on the result behind them.
TEST(CudaGemmNBits, GatesOfFewRows) {
  for (const auto& [rows, depth, pairs, bits, zeros] : {std::tuple{1, 1192, 48, 4, ""},
                                                        {3, 264, 16, 8, "u8"},
                                                        {8, 520, 32, 4, "u8"},
                                                        {1, 160, 2320, 4, ""}}) {
    const int64_t blocks = (depth + 31) / 32;
    const std::string perBlock = str("[", 2 * pairs, ", ", blocks, "]");
    HarnessCase gated{
        .graph =
            str("graph g(%x: f16[", rows, ", ", depth, "], %w: u8[", 2 * pairs, ", ", blocks, ", ",
                4 * bits, "], %s: f16", perBlock, ", ",
                *zeros ? str("%z: ", zeros, perBlock, ", ") : "", "%r: f16[", rows, ", ", pairs,
                "]) { %y = MatMulNBits(%x, %w, %s", *zeros ? ", %z" : "", ") {bits = ", bits,
                ", block_size = 32, gate = mul(mul(x0:f16, sigmoid(x0:f16)), x1:f16)} "
                "epilogue(%r) {add(x0:f16, x1:f16)} return %y }"),
        .constants =
            *zeros ? std::set<std::string>{"w", "s", "z"} : std::set<std::string>{"w", "s"},
        .ranges = {{"w", {0, 255}}, {"s", {0.002, 0.004}}, {"z", {0, (1 << bits) - 1}}},
        .tolerance = 2e-2,
        .only = "cuda/gemm_nbits"};
    expectKernelsMatch(gated);
  }
}

struct NormCase {
  int rows = 1;
  int64_t depth = 128, columns = 20, bits = 4, blockSize = 32;
  const char *zeros = "", *type = "f16", *factors = "f16";  // empty: none
  bool isGated = false;
};

HarnessCase caseOf(const NormCase& c) {
  const int64_t blocks = (c.depth + c.blockSize - 1) / c.blockSize;
  const std::string perBlock = str("[", c.columns, ", ", blocks, "]");
  const std::string gate = c.isGated ? str(", gate = mul(mul(x0:", c.type, ", sigmoid(x0:", c.type,
                                           ")), x1:", c.type, ")")
                                     : "";
  HarnessCase made{
      .graph =
          str("graph g(%x: ", c.type, "[", c.rows, ", ", c.depth, "], %w: u8[", c.columns, ", ",
              blocks, ", ", c.blockSize * c.bits / 8, "], %s: ", c.type, perBlock,
              *c.zeros ? str(", %z: ", c.zeros, perBlock) : "",
              *c.factors ? str(", %f: ", c.factors, "[", c.depth, "]") : "", ", %r: ", c.type, "[",
              c.rows, ", ", c.isGated ? c.columns / 2 : c.columns,
              "]) { %y = MatMulNBits(%x, %w, %s, ", *c.zeros ? "%z" : "_", *c.factors ? ", %f" : "",
              ") {bits = ", c.bits, ", block_size = ", c.blockSize, ", rms = true, epsilon = 0.01",
              gate, "} epilogue(%r) {add(x0:", c.type, ", x1:", c.type, ")} return %y }"),
      .constants = {"w", "s"},
      .ranges = {{"x", {-0.3, 0.5}},
                 {"w", {0, 255}},
                 {"s", {0.001, 0.002}},
                 {"z", {0, (1 << c.bits) - 1}},
                 {"f", {0.5, 1.5}}},
      .tolerance = std::string_view(c.type) == "bf16" ? 6e-2 : 1e-2,
      .only = "cuda/gemm_nbits"};
  if (*c.zeros) made.constants.insert("z");
  if (*c.factors) made.constants.insert("f");
  return made;
}

// In registers, and where they are too many, in shared memory.
TEST(CudaGemmNBits, NormalisesFewRows) {
  for (const NormCase& c : {
           NormCase{},
           {.depth = 1192, .columns = 52},
           {.depth = 4096, .blockSize = 128},
           {.depth = 4096, .columns = 64, .isGated = true},
           {.depth = 9000, .zeros = "u8"},
           {.rows = 3, .depth = 264, .bits = 8, .zeros = "u8"},
           {.rows = 3, .depth = 1400, .columns = 64, .zeros = "u8", .isGated = true},
           {.rows = 8, .depth = 520, .bits = 2},
           {.rows = 8, .depth = 3000, .bits = 8, .zeros = "u8", .factors = "f32"},
           {.rows = 5, .depth = 200, .factors = ""},
           {.depth = 136, .type = "bf16", .factors = "bf16"},
           {.rows = 8, .depth = 1032, .zeros = "u8", .type = "bf16", .factors = ""},
       })
    expectKernelsMatch(caseOf(c));
}

// A row of a few is one that is not there.
TEST(CudaGemmNBits, NormalisesRowsThatOnlyTheRunCounts) {
  HarnessCase some = caseOf(NormCase{.depth = 392});
  for (size_t at; (at = some.graph.find("[1, ")) != std::string::npos;)
    some.graph.replace(at, 4, "[n, ");
  some.graph = "symbols n " + some.graph;
  some.sizes = {{{"n", 1}}, {{"n", 6}}};
  expectKernelsMatch(some);
}

TEST(CudaGemmNBits, NormalisesInStreamsAlone) {
  EXPECT_THAT(refusalsOf("graph g(%x: f16[9, 32], %w: u8[16, 1, 16], %s: f16[16, 1]) { "
                         "%y = MatMulNBits(%x, %w, %s) {block_size = 32, rms = true} return %y }"),
              HasSubstr("cuda/gemm_nbits_plain: has no gates and norms"));
}

TEST(CudaGemmNBits, TakesWhatOnlyTheRunKnows) {
  expectKernelsMatch({.graph = "graph g(%x: f32[3, 50], %w: u8[7, 5, 6], %s: f32[7, 5], "
                               "%z: f32[7, 5]) { %y = MatMulNBits(%x, %w, %s, %z) {bits = 4, "
                               "block_size = 12} return %y }",
                      .ranges = {{"w", {0, 255}}},
                      .tolerance = 1e-4});
  EXPECT_THAT(refusalsOf("graph g(%x: f32[1, 8], %w: u8[1, 1, 2], %s: f32[1, 1]) { "
                         "%y = MatMulNBits(%x, %w, %s) {bits = 2, block_size = 8} return %y }"),
              HasSubstr("needs blocks of a multiple of 16 weights"));
}

}  // namespace
}  // namespace camshaft::cuda
