#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

TEST(CudaGemmPlainNorm, EachType) {
  for (const char* type : {"f32", "f16", "bf16", "f64"})
    expectKernelsMatch({.graph = str("symbols m graph g(%x: ", type, "[2, m, 19], %w: ", type,
                                     "[19, 70], %s: f32[19], %b: ", type,
                                     "[19]) { %y, %mean, %factor = NormMatMul(%x, %w, %s, %b) "
                                     "{keeps_moments = true} return %y, %mean, %factor }"),
                        .sizes = {{{"m", 67}}, {{"m", 1}}},
                        .ranges = {{"x", {1, 5}}},
                        .only = "cuda/gemm_plain_norm"});
}

TEST(CudaGemmPlainNorm, MeanSquaresTransposedWeightsAndAResidual) {
  expectKernelsMatch(
      "graph g(%x: f32[33, 40], %w: f32[33, 40], %r: f32[33, 33]) { %y = NormMatMul(%x, %w) "
      "{rms = true, transpose_b = true} epilogue(%r) {add(x0:f32, x1:f32)} return %y }");
  expectKernelsMatch(
      "graph g(%x: f32[5, 40], %w: f32[40, 9], %b: f32[40]) { "
      "%y = NormMatMul(%x, %w, _, %b) return %y }");
}

}  // namespace
}  // namespace camshaft::cuda
