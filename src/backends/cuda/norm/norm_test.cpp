#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

TEST(CudaLayerNorm, WithAndWithoutScaleAndBias) {
  for (const char* attributes : {"axis = 2", "axis = 2, rms = true, epsilon = 1e-6"})
    for (const char* operands : {"%x", "%x, %s", "%x, %s, %b", "%x, _, %b"})
      expectKernelsMatch(
          str("symbols n graph g(%x: f16[2, n, 96], %s: f16[96], %b: f32[96]) { %y = "
              "LayerNorm(",
              operands, ") {", attributes, "} return %y }"),
          {{{"n", 1}}, {{"n", 7}}});
}

TEST(CudaLayerNorm, RowsOfEachLengthAndType) {
  for (const char* type : {"f32", "f16", "bf16", "f64"})
    for (int size : {1, 7, 129, 768, 5001}) {
      const std::string shape = str(type, "[", size, "]");
      expectKernelsMatch(
          str("symbols n graph g(%x: ", type, "[n, ", size, "], %s: ", shape, ", %b: ", shape,
              ") { %y = LayerNorm(%x, %s, %b) {axis = 1} return %y }"),
          {{{"n", 3}}});
    }
  expectKernelsMatch(
      "symbols t graph g(%x: f16[5, t], %s: f16[t]) { %y = LayerNorm(%x, %s) {axis = 1} return %y "
      "}",
      {{{"t", 1}}, {{"t", 67}}, {{"t", 3000}}});
  expectKernelsMatch("graph g(%x: f32[2, 40008]) { %y = LayerNorm(%x) {axis = 1} return %y }");
}

TEST(CudaLayerNorm, SeveralDimensionsAndLargeMeans) {
  expectKernelsMatch({.graph = "graph g(%x: f32[5, 3, 70], %s: f32[3, 1], %b: f32[70]) { %y = "
                               "LayerNorm(%x, %s, %b) {axis = 1} return %y }",
                      .ranges = {{"x", {100, 101}}},
                      .tolerance = 1e-4});
}

TEST(CudaLayerNorm, WithAnEpilogueThatChangesTheType) {
  expectKernelsMatch({.graph = "symbols n graph g(%x: f16[2, n, 64], %s: f16[64], %r: f16[2, n, "
                               "64], %c: f32[2, 1, 64]) { %y "
                               "= LayerNorm(%x, %s) {axis = 2} epilogue(%r, %c) "
                               "{gelu(add(cast(add(x0:f16, x1:f16), f32), "
                               "x2:f32))} return %y }",
                      .sizes = {{{"n", 3}}},
                      .tolerance = 5e-3});
}

TEST(CudaPointwiseNorm, KeepsTheSum) {
  for (const char* type : {"f16", "f32"})
    for (const char* size : {"768", "37", "t"})
      expectKernelsMatch(
          {.graph =
               str("symbols n, t graph g(%x: ", type, "[n, ", size, "], %r: f16[n, ", size,
                   "], %b: f16[", size, "], %s: f32[", size,
                   "]) { %y, %v = PointwiseNorm(%x, %r, %b, %s, %s) {expr = add(add(cast(x0:", type,
                   ", f16), x1:f16), x2:f16), axis = 1, keeps_value = true} return %y, %v }"),
           .sizes = {{{"n", 5}, {"t", 72}}, {{"n", 1}, {"t", 1001}}},
           .tolerance = 5e-3});
}

TEST(CudaPointwiseNorm, OfOneOutputWithAnEpilogue) {
  expectKernelsMatch(
      {.graph =
           "symbols n graph g(%x: f32[n, 3, 24], %r: f32[3, 1], %s: f32[24], %e: f32[n, 3, 24]) "
           "{ %y = PointwiseNorm(%x, %r, %s) {expr = relu(add(x0:f32, x1:f32)), axis = 2, rms = "
           "true} epilogue(%e) {cast(add(x0:f32, x1:f32), f16)} return %y }",
       .sizes = {{{"n", 5}}}});
}

// Bytes, and what they were made of; with the sum that is normalised, three outputs.
TEST(CudaPointwiseNorm, KeepsTheResultThatItQuantises) {
  for (const char* quantised :
       {"cast(div(x0:f32, 0.013:f32), f8e4m3)",
        "cast(min(max(round(div(x0:f32, 0.013:f32)), -128:f32), 127:f32), i8)"})
    for (const char* size : {"768", "37", "t"}) {
      expectKernelsMatch(
          {.graph = str("symbols n, t graph g(%x: f32[n, ", size, "], %s: f32[", size,
                        "]) { %q, %y = PointwiseNorm(%x, %s, %s) {expr = x0:f32, axis = 1, "
                        "keeps_result = true} epilogue() {",
                        quantised, "} %d = Pointwise(%q) {expr = cast(x0:",
                        quantised[5] == 'd' ? "f8e4m3" : "i8", ", f32)} return %d, %y }"),
           .sizes = {{{"n", 5}, {"t", 72}}, {{"n", 1}, {"t", 1001}}},
           .tolerance = 0.07});
      expectKernelsMatch(
          {.graph = str("symbols n, t graph g(%x: f16[n, ", size, "], %r: f16[n, ", size,
                        "]) { %q, %v, %y = PointwiseNorm(%x, %r) {expr = add(x0:f16, x1:f16), "
                        "axis = 1, keeps_value = true, keeps_result = true} epilogue() "
                        "{cast(div(cast(x0:f16, f32), 0.3:f32), f8e4m3)} return %q, %v, %y }"),
           .sizes = {{{"n", 5}, {"t", 72}}},
           .tolerance = 0.13});
    }
}

TEST(CudaGroupNorm, BothLayouts) {
  const Sizes sizes = {{{"n", 1}, {"h", 1}}, {{"n", 2}, {"h", 7}}, {{"n", 1}, {"h", 40}}};
  for (const char* groups : {"0", "2", "6", "12"}) {
    expectKernelsMatch(str("symbols n, h graph g(%x: f32[n, 12, h, 5], %s: f32[12], %b: f32[12]) { "
                           "%y = GroupNorm(%x, %s, %b) {groups = ",
                           groups, "} return %y }"),
                       sizes);
    expectKernelsMatch(str("symbols n, h graph g(%x: f32[n, h, 5, 12], %s: f32[12], %b: f32[12]) { "
                           "%y = GroupNorm(%x, %s, %b) {channels_last = true, groups = ",
                           groups, "} return %y }"),
                       sizes);
  }
  for (const char* groups : {"1", "2", "32", "160"})
    expectKernelsMatch(str("symbols n graph g(%x: f16[n, 6, 7, 160], %s: f16[160], %r: f16[160]) { "
                           "%y = GroupNorm(%x, %s) {channels_last = true, groups = ",
                           groups, "} epilogue(%r) {silu(add(x0:f16, x1:f16))} return %y }"),
                       {{{"n", 2}}});
}

TEST(CudaLrn, OddWindows) {
  for (const char* type : {"f32", "f16"})
    for (int size : {1, 3, 4, 9})
      expectKernelsMatch(
          str("symbols n, h graph g(%x: ", type, "[n, 7, h, 4]) { %y = Lrn(%x) {size = ", size,
              ", alpha = 0.01, beta = 0.5, bias = 1.5} return %y }"),
          {{{"n", 1}, {"h", 5}}, {{"n", 2}, {"h", 12}}});
}

}  // namespace
}  // namespace camshaft::cuda
