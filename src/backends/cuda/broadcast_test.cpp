// Operands whose sizes are known at run time alone, and are then 1 or all: in every family, each is
// read by the strides of the sizes it has.
#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

Sizes oneAndAll(int64_t all) { return {{{"n", 1}}, {{"n", all}}}; }

TEST(CudaBroadcast, Pointwise) {
  expectKernelsMatch(
      "symbols n graph g(%c: bool[7], %x: f32[7], %y: f32[n]) { %w = Pointwise(%c, %x, %y) {expr "
      "= where(x0:bool, x1:f32, x2:f32)} return %w }",
      oneAndAll(7));
  // Whole vectors of the result, and an operand that may have one element.
  for (const char* type : {"f16", "i8", "f32"})
    expectKernelsMatch(
        str("symbols n graph g(%x: ", type, "[64], %y: ", type,
            "[n]) { %w = Pointwise(%x, %y) {expr = min(x0:", type, ", x1:", type, ")} return %w }"),
        oneAndAll(64));
  // The first operand, too, and dimensions before the last.
  expectKernelsMatch(
      "symbols a, b graph g(%x: f32[a, 4, b, 8], %y: f32[3, 4, 5, 8]) { %w = Pointwise(%x, %y) "
      "{expr = sub(x0:f32, x1:f32)} return %w }",
      {{{"a", 1}, {"b", 1}}, {{"a", 3}, {"b", 5}}, {{"a", 1}, {"b", 5}}, {{"a", 3}, {"b", 1}}});
}

TEST(CudaBroadcast, Expand) {
  expectKernelsMatch(
      "symbols a, b graph g(%x: f32[a, b, 2, 1]) { %y = Expand(%x) {shape = [3, 4, 2, 5]} return "
      "%y }",
      {{{"a", 1}, {"b", 1}}, {{"a", 3}, {"b", 4}}, {{"a", 1}, {"b", 4}}});
}

TEST(CudaBroadcast, EpiloguesOfMovesAndRows) {
  const auto expectEpilogue = [](const std::string& inputs, const std::string& node) {
    expectKernelsMatch({.graph = str("symbols n graph g(", inputs, ", %s: f32[n]) { %y = ", node,
                                     " epilogue(%s) {sub(x0:f32, x1:f32)} return %y }"),
                        .sizes = oneAndAll(8),
                        .ranges = {{"i", {0, 3}}}});
  };
  expectEpilogue("%x: f32[8, 6]", "Transpose(%x) {order = [1, 0]}");
  expectEpilogue("%x: f32[4, 6]", "Reshape(%x) {shape = [3, 8]}");
  expectEpilogue("%x: f32[4, 3], %z: f32[4, 5]", "Concat(%x, %z) {axis = 1}");
  expectEpilogue("%x: f32[4, 5]", "Pad(%x) {begin = [0, 1], end = [0, 2]}");
  expectEpilogue("%x: f32[4, 4]", "Tile(%x) {repeats = [1, 2]}");
  expectEpilogue("%x: f32[4, 8], %i: i64[3]", "Gather(%x, %i) {axis = 0}");
  expectEpilogue("%x: f32[4, 8]", "Softmax(%x) {axis = 1}");
  expectEpilogue("%x: f32[4, 8]", "Softmax(%x) {axis = 0}");
  expectEpilogue("%x: f32[4, 8]", "CumSum(%x) {axis = 0}");
  expectEpilogue("%x: f32[4, 8]", "LayerNorm(%x) {axis = 1}");
  expectEpilogue("%x: f32[4, 5, 8]", "Reduce(%x) {kind = sum, axes = [1], keep_dims = false}");
  expectEpilogue("%x: f32[4, 8, 5]", "Reduce(%x) {kind = max, axes = [2], keep_dims = false}");
  expectEpilogue("%x: f32[2, 3, 8]", "GroupNorm(%x) {groups = 3}");
  expectEpilogue("%a: f32[4, 5], %b: f32[5, 8]", "Einsum(%a, %b) {equation = \"ij,jk->ik\"}");
}

TEST(CudaBroadcast, Norms) {
  const Sizes sizes = {{{"n", 1}, {"k", 1}}, {{"n", 6}, {"k", 32}}, {{"n", 6}, {"k", 1}}};
  expectKernelsMatch(
      "symbols n, k graph g(%x: f32[2, 6, 32], %r: f32[n, k], %s: f32[k], %b: f32[32]) { %y, %sum "
      "= PointwiseNorm(%x, %r, %s, %b) {expr = add(x0:f32, x1:f32), axis = 2, keeps_value = true} "
      "return %y, %sum }",
      sizes);
  expectKernelsMatch(
      "symbols n, k graph g(%x: f16[6, 32], %r: f16[n, k], %s: f16[k]) { %y = LayerNorm(%x, %s) "
      "{axis = 1} epilogue(%r) {add(x0:f16, x1:f16)} return %y }",
      sizes);
}

TEST(CudaBroadcast, Products) {
  const Sizes sizes = {
      {{"n", 1}, {"m", 1}}, {{"n", 4}, {"m", 3}}, {{"n", 1}, {"m", 3}}, {{"n", 4}, {"m", 1}}};
  for (const char* type : {"f32", "f16"}) {
    expectKernelsMatch(
        {.graph = str("symbols n, m graph g(%a: ", type, "[4, 3, 5, 16], %b: ", type,
                      "[n, m, 8, 16]) { %y = MatMul(%a, %b) {transpose_b = true} return %y }"),
         .sizes = sizes,
         .tolerance = 2e-2});
    expectKernelsMatch(
        {.graph = str("symbols n, m graph g(%a: ", type, "[n, m, 5, 16], %b: ", type,
                      "[4, 3, 8, 16]) { %y = MatMul(%a, %b) {transpose_b = true} return %y }"),
         .sizes = sizes,
         .tolerance = 2e-2});
  }
}

TEST(CudaBroadcast, EpiloguesOfProducts) {
  for (const char* type : {"f32", "f16"})
    expectKernelsMatch({.graph = str("symbols n, m, b graph g(%a: ", type, "[2, 5, 16], %w: ", type,
                                     "[16, 24], %r: ", type,
                                     "[b, m, n]) { %y = MatMul(%a, %w) epilogue(%r) {add("
                                     "x0:",
                                     type, ", x1:", type, ")} return %y }"),
                        .sizes = {{{"n", 1}, {"m", 1}, {"b", 1}},
                                  {{"n", 24}, {"m", 5}, {"b", 2}},
                                  {{"n", 24}, {"m", 1}, {"b", 1}},
                                  {{"n", 1}, {"m", 5}, {"b", 1}},
                                  {{"n", 24}, {"m", 1}, {"b", 2}}},
                        .constants = {"w"},
                        .tolerance = 2e-2});
}

TEST(CudaBroadcast, EpiloguesOfConvolutions) {
  const Sizes sizes = {{{"n", 1}, {"h", 1}, {"c", 1}},
                       {{"n", 2}, {"h", 5}, {"c", 16}},
                       {{"n", 1}, {"h", 1}, {"c", 16}},
                       {{"n", 2}, {"h", 5}, {"c", 1}}};
  const auto expectConv = [&](const std::string& type, const std::string& weights,
                              const std::string& groups) {
    expectKernelsMatch(
        {.graph = str("symbols n, h, c graph g(%x: ", type, "[2, 5, 5, 16], %w: ", type, weights,
                      ", %r: ", type,
                      "[n, h, 5, c]) { %y = Conv(%x, %w) {channels_last = true, strides = [1, 1], "
                      "dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], groups = ",
                      groups, "} epilogue(%r) {add(x0:", type, ", x1:", type, ")} return %y }"),
         .sizes = sizes,
         .constants = {"w"},
         .ranges = {{"w", {-0.3, 0.3}}},
         .tolerance = 2e-2});
  };
  expectConv("f16", "[16, 16, 3, 3]", "1");
  expectConv("f32", "[16, 1, 3, 3]", "16");
}

TEST(CudaBroadcast, MasksOfAttention) {
  for (const char* type : {"f32", "f16"})
    for (const char* mask : {"f16", "bool"})
      expectKernelsMatch(
          {.graph = str("symbols b, h, q, k graph g(%q: ", type, "[2, 4, 3, 8], %k: ", type,
                        "[2, 4, 14, 8], %v: ", type, "[2, 4, 14, 8], %m: ", mask,
                        "[b, h, q, k]) { %y = Attention(%q, %k, %v, %m) {scale = 0.3} return %y }"),
           .sizes = {{{"b", 1}, {"h", 1}, {"q", 1}, {"k", 1}},
                     {{"b", 2}, {"h", 4}, {"q", 3}, {"k", 14}},
                     {{"b", 1}, {"h", 4}, {"q", 3}, {"k", 14}},
                     {{"b", 2}, {"h", 1}, {"q", 1}, {"k", 14}},
                     {{"b", 1}, {"h", 1}, {"q", 3}, {"k", 1}}},
           .values = {{"m", {1, 0, 1, 1}}},
           .tolerance = 2e-2});
}

}  // namespace
}  // namespace camshaft::cuda
