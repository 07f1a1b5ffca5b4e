#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

// Moments lie beside each other: a mean, and squares that are none of a number below 0.
TEST(CudaGemmPlainNorm, EachType) {
  for (const char* type : {"f32", "f16", "bf16", "f64"})
    expectKernelsMatch({.graph = str("symbols m graph g(%x: ", type, "[2, m, 64], %w: ", type,
                                     "[64, 70], %m: f32[2, m, 2, 2], %s: ", type, "[64], %b: ",
                                     type, "[64]) { %y, %mean, %factor = NormMatMul(%x, %w, %m, ",
                                     "%s, %b) {keeps_moments = true} return %y, %mean, %factor }"),
                        .sizes = {{{"m", 67}}, {{"m", 1}}},
                        .ranges = {{"x", {1, 5}}, {"m", {0.5, 5}}},
                        // Sums of products up to 30 that cancel, in the order of the device.
                        .tolerance = std::string_view(type) == "f32" ? 1e-4 : -1,
                        .only = "cuda/gemm_plain_norm"});
}

TEST(CudaGemmPlainNorm, MeanSquaresTransposedWeightsAndAResidual) {
  expectKernelsMatch(
      {.graph = "graph g(%x: f32[33, 32], %w: f32[33, 32], %m: f32[33, 1, 2], %r: f32[33, 33]) { "
                "%y = NormMatMul(%x, %w, %m) {rms = true, transpose_b = true} epilogue(%r) "
                "{add(x0:f32, x1:f32)} return %y }",
       .ranges = {{"m", {0.5, 5}}}});
  expectKernelsMatch(
      {.graph = "graph g(%x: f32[5, 32], %w: f32[32, 9], %m: f32[5, 1, 2], %b: f32[32]) { "
                "%y = NormMatMul(%x, %w, %m, _, %b) return %y }",
       .ranges = {{"m", {0.5, 5}}}});
}

}  // namespace
}  // namespace camshaft::cuda
