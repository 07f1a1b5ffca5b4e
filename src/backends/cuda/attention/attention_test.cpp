#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

TEST(Attention, HeadsOfMatrices) {
  expectKernelsMatch(
      "symbols n, t graph g(%q: f16[n, 2, t, 16], %k: f16[n, 2, t, 16], %v: f16[n, 2, t, 8]) {"
      " %y = Attention(%q, %k, %v) {scale = 0.25} return %y }",
      {{{"n", 2}, {"t", 5}}, {{"n", 1}, {"t", 70}}});
}

TEST(Attention, NoKeysAtSomeSizes) {
  for (const std::string type : {"f16", "f32"})
    expectKernelsMatch("symbols t graph g(%q: " + type + "[1, 2, 5, 16], %k: " + type +
                           "[1, 2, t, 16], %m: " + type +
                           "[5, t]) { %y = Attention(%q, %k, %k, %m) {scale = 0.25} return %y }",
                       {{{"t", 9}}, {{"t", 0}}});
}

// Several tiles of keys, for warpgroups too.
TEST(Attention, LongSequences) {
  expectKernelsMatch(
      "graph g(%q: f16[1, 1, 150, 64], %k: f16[1, 1, 200, 64], %v: f16[1, 1, 200, 64]) {"
      " %y = Attention(%q, %k, %v) {scale = 0.125} return %y }");
  expectKernelsMatch(
      "graph g(%q: bf16[1, 1, 130, 128], %k: bf16[1, 1, 190, 128], %v: bf16[1, 1, 190, 64]) {"
      " %y = Attention(%q, %k, %v) {scale = 0.1, causal = true} return %y }");
}

TEST(Attention, PackedTokens) {
  expectKernelsMatch(
      "symbols b, s graph g(%x: f16[b, s, 96]) {"
      " %y = Attention(%x, %x, %x) {scale = 0.25, causal = true, heads = 2, kv_heads = 2,"
      " size = 16, value_size = 16, offsets = [0, 32, 64]} return %y }",
      {{{"b", 2}, {"s", 35}}, {{"b", 1}, {"s", 1}}});
}

TEST(Attention, TokensThatLieAskewArePlain) {
  const std::string graph =
      "symbols b, s graph g(%x: f16[b, s, 100]) {"
      " %y = Attention(%x, %x, %x) {scale = 0.25, heads = 2, kv_heads = 2,"
      " size = 16, value_size = 16, offsets = [2, 34, 66]} return %y }";
  EXPECT_NE(refusalsOf(graph).find("cuda/attention_flash: needs the features"), std::string::npos)
      << refusalsOf(graph);
  expectKernelsMatch(graph, {{{"b", 2}, {"s", 9}}});
}

TEST(Attention, QueriesOfTokensMeetACache) {
  expectKernelsMatch(
      "symbols b, s, t graph g(%q: bf16[b, s, 64], %k: bf16[b, 2, t, 16], %v: bf16[b, t, 24]) {"
      " %y = Attention(%q, %k, %v) {scale = 0.25, causal = true, align_end = true, heads = 4,"
      " kv_heads = 2, size = 16, value_size = 8, offsets = [0, 0, 8]} return %y }",
      {{{"b", 2}, {"s", 3}, {"t", 40}}, {{"b", 1}, {"s", 1}, {"t", 7}}});
}

// Heads that share keys are rows of one tile; masks of heads are then masks of rows.
TEST(Attention, OneQueryOfGroupsOfHeads) {
  struct Case {
    const char *q, *kv, *more, *mask;
  };
  for (const Case& each :
       {Case{"2, 6, 1, 64", "2, 2, 37, 64", "", "f16[2, 6, 1, 37]"},
        Case{"1, 8, 1, 80", "1, 1, 130, 80", "", "bool[1, 8, 1, 130]"},
        Case{"2, 7, 1, 128", "2, 7, 5, 128", "", "f32[7, 1, 1]"},
        Case{"3, 10, 1, 16", "3, 2, 33, 16", ", causal = true, align_end = true",
             "bool[3, 1, 1, 33]"},
        Case{"1, 4, 1, 16", "1, 2, 33, 16", ", causal = true", "bool[33]"},
        Case{"2, 4, 1, 24", "2, 2, 60, 24", ", mask_batches = 1, softcap = 3", "f16[1, 4, 1, 60]"}})
    expectKernelsMatch(str("graph g(%q: f16[", each.q, "], %k: f16[", each.kv, "], %v: f16[",
                           each.kv, "], %m: ", each.mask,
                           ") { %y = Attention(%q, %k, %v, %m) {scale = 0.2", each.more,
                           "} return %y }"));
  expectKernelsMatch(
      "symbols b, t graph g(%q: bf16[b, 1, 96], %k: bf16[b, 2, t, 16], %v: bf16[b, 2, t, 16]) {"
      " %y = Attention(%q, %k, %v) {scale = 0.25, causal = true, align_end = true, heads = 6,"
      " kv_heads = 2, size = 16, value_size = 16, offsets = [0, 0, 0]} return %y }",
      {{{"b", 2}, {"t", 40}}, {{"b", 1}, {"t", 1}}});
}

// Caches of 8 bits, by one query and by many, with matrix units and without.
TEST(Attention, KeysOf8Bits) {
  for (const char* bytes : {"i8", "f8e4m3"})
    for (const char* queries : {"f16", "bf16", "f32"})
      expectKernelsMatch(
          str("symbols s, t graph g(%q: ", queries, "[1, 4, s, 32], %k: ", bytes,
              "[1, 2, t + 10, 32], %v: ", bytes,
              "[1, 2, t + 10, 32]) {"
              " %y = Attention(%q, %k, %v) {scale = 0.005, causal = true, align_end = true,"
              " keys = [t]} return %y }"),
          {{{"s", 1}, {"t", 290}}, {{"s", 9}, {"t", 70}}});
}

// The kernels with and without matrix units, one and several parts of the keys.
TEST(Attention, EndsInBytes) {
  for (const char* sizes : {"2, 35, 16", "1, 2, 16", "1, 300, 64", "2, 9, 12"})
    for (const char* expr :
         {"cast(div(cast(x0:f16, f32), 0.007:f32), f8e4m3)",
          "cast(min(max(round(div(cast(x0:f16, f32), 0.007:f32)), -128:f32), 127:f32), i8)"}) {
      const std::string graph =
          str("graph g(%q: f16[1, ", sizes, "], %k: f16[1, ", sizes, "], %v: f16[1, ", sizes,
              "]) { %y = Attention(%q, %k, %v) {scale = 0.25, causal = true} epilogue() {", expr,
              "} %z = Pointwise(%y) {expr = cast(x0:", expr[5] == 'd' ? "f8e4m3" : "i8",
              ", f32)} return %z }");
      expectKernelsMatch(HarnessCase{.graph = graph, .tolerance = 0.13});
    }
}

// Fewer masks than batches, in order again and again.
TEST(Attention, MasksThatRepeat) {
  for (const char* type : {"f16", "f32"})
    expectKernelsMatch(
        str("symbols n graph g(%q: ", type, "[3*n, 2, 9, 16], %k: ", type,
            "[3*n, 2, 12, 16], %v: ", type, "[3*n, 2, 12, 16], %m: ", type,
            "[3, 1, 9, 12]) { %y = Attention(%q, %k, %v, %m) {scale = 0.25, mask_batches = 3} "
            "return %y }"),
        {{{"n", 2}}, {{"n", 1}}});
}

// Pixels of images as tokens, of windows shifted around the edges.
TEST(Attention, WindowsOfImages) {
  const auto graph = [](const char* type, int size, int pixels, const char* windows,
                        const char* mask, int masks) {
    return str("symbols n graph g(%x: ", type, "[n, ", pixels, ", ", 6 * size, "], %m: ", type,
               mask, ") { %y = Attention(%x, %x, %x, %m) {scale = 0.2, heads = 2, kv_heads = 2, ",
               "size = ", size, ", value_size = ", size, ", offsets = [0, ", 2 * size, ", ",
               4 * size, "], mask_batches = ", masks, ", windows = ", windows, "} return %y }");
  };
  const Sizes images = {{{"n", 2}}, {{"n", 1}}};
  for (const char* type : {"f16", "f32", "bf16"}) {
    expectKernelsMatch(graph(type, 32, 98, "[7, 14, 7, 7, 3, 3]", "[2, 1, 49, 49]", 2), images);
    expectKernelsMatch(graph(type, 16, 24, "[4, 6, 2, 2, 0, 1]", "[2, 4, 4]", 0), images);
  }
  expectKernelsMatch(graph("f16", 64, 288, "[12, 24, 12, 12, 6, 0]", "[1, 144]", 0), images);
  expectKernelsMatch(graph("f16", 7, 16, "[4, 4, 2, 4, 1, 3]", "[8, 8]", 0), {{{"n", 1}}});
}

TEST(Attention, MasksOfAllTypes) {
  for (const char* mask : {"f16[n, 1, 1, 20]", "f32[2, 9, 20]", "f64[20]", "bool[n, 2, 9, 1]"})
    expectKernelsMatch(std::string("symbols n graph g(%q: f16[n, 2, 9, 8], %k: f16[n, 1, 20, 8],"
                                   " %v: f16[n, 1, 20, 8], %m: ") +
                           mask +
                           ") { %y = Attention(%q, %k, %v, %m) {scale = 0.5, softcap = 5}"
                           " return %y }",
                       {{{"n", 3}}});
}

TEST(Attention, ConstantMasksOfOddRows) {
  expectKernelsMatch(HarnessCase{
      .graph = "graph g(%q: f16[3, 2, 49, 32], %k: f16[3, 2, 49, 32], %v: f16[3, 2, 49, 32],"
               " %m: f16[2, 49, 49]) { %y = Attention(%q, %k, %v, %m) {scale = 0.2} return %y }",
      .constants = {"m"}});
}

TEST(Attention, RowsThatSeeNothingAreZero) {
  for (const char* type : {"f16", "f32"}) {
    const std::string heads = std::string(type) + "[1, 2, 10, 8]";
    expectKernelsMatch(HarnessCase{
        .graph = std::string("graph g(%q: ") + type + "[1, 2, 40, 8], %k: " + heads +
                 ", %v: " + heads +
                 ", %m: bool[40, 1]) {"
                 " %y = Attention(%q, %k, %v, %m) {causal = true, align_end = true} return %y }",
        .values = {{"m", {1, 0, 1}}}});
  }
}

TEST(Attention, OtherTypesAndSizesArePlain) {
  for (const char* type : {"f32", "f64"})
    expectKernelsMatch(std::string("symbols t graph g(%q: ") + type + "[2, 2, t, 5], %k: " + type +
                           "[2, 2, 5, 37], %v: " + type +
                           "[2, 2, 37, 33]) { %y = Attention(%q, %k, %v) {scale = -0.3,"
                           " transposed_keys = true} return %y }",
                       {{{"t", 6}}, {{"t", 40}}});
}

TEST(Attention, HeadsKnownLater) {
  expectKernelsMatch(
      "symbols h graph g(%q: f32[1, 4 * h, 3, 8], %k: f32[1, h, 6, 8], %v: f32[1, h, 6, 8]) {"
      " %y = Attention(%q, %k, %v) return %y }",
      {{{"h", 1}}, {{"h", 3}}});
}

}  // namespace
}  // namespace camshaft::cuda
