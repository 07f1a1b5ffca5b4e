#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

TEST(CudaGemmPlain, EachType) {
  for (const char* type : {"f32", "f16", "bf16", "f64", "i8", "u8", "i32", "i64"})
    expectKernelsMatch({.graph = str("symbols m graph g(%a: ", type, "[m, 19], %b: ", type,
                                     "[19, 70]) { %y = MatMul(%a, %b) return %y }"),
                        .sizes = {{{"m", 67}}, {{"m", 1}}},
                        .ranges = {{"b", {0, 3}}},
                        .only = "cuda/gemm_plain"});
}

TEST(CudaGemmPlain, TransposesAndBroadcasts) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      expectKernelsMatch(
          {.graph = str("symbols n graph g(%a: f32[n, 1, ", a ? "21, 18" : "18, 21",
                        "], %b: f32[3, ", b ? "33, 21" : "21, 33",
                        "], %r: f32[n, 3, 18, 33], %s: f32[3, 1, 33]) { %y = "
                        "MatMul(%a, %b) {transpose_a = ",
                        a ? "true" : "false", ", transpose_b = ", b ? "true" : "false",
                        "} epilogue(%r, %s) {mul(add(x0:f32, x1:f32), x2:f32)} return %y }"),
           .sizes = {{{"n", 2}}},
           .only = "cuda/gemm_plain"});
}

TEST(CudaGemmPlain, MatricesOfOneRow) {
  expectKernelsMatch({.graph = "symbols n graph g(%a: f32[n, 3, 1, 21], %b: f32[21, 33]) "
                               "{ %y = MatMul(%a, %b) return %y }",
                      .sizes = {{{"n", 5}}, {{"n", 1}}},
                      .only = "cuda/gemm_plain"});
  expectKernelsMatch({.graph = "graph g(%a: u8[5, 1, 21], %b: i8[21, 6], %z: u8[]) "
                               "{ %y = MatMulInteger(%a, %b, %z) return %y }",
                      .tolerance = 0,
                      .only = "cuda/gemm_plain"});
}

// Means of quantised images are products with a row of ones.
TEST(CudaGemmPlain, FewRows) {
  for (int rows : {1, 3}) {
    expectKernelsMatch(
        {.graph = str("symbols n graph g(%a: f32[", rows, ", 49], %b: f32[n, 49, 300], ",
                      "%r: f32[n, ", rows, ", 300]) { %y = MatMul(%a, %b) epilogue(%r) ",
                      "{add(x0:f32, x1:f32)} return %y }"),
         .sizes = {{{"n", 2}}},
         .only = "cuda/gemm_plain"});
    expectKernelsMatch(
        {.graph = str("symbols n graph g(%a: u8[", rows, ", 49], %b: i8[n, 49, 20], ",
                      "%z: u8[]) { %y = MatMulInteger(%a, %b, %z) ", "return %y }"),
         .sizes = {{{"n", 3}}},
         .tolerance = 0,
         .only = "cuda/gemm_plain"});
  }
}

}  // namespace
}  // namespace camshaft::cuda
