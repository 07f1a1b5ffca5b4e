#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

void expectProducts(const std::string& graph, std::set<std::string> constants) {
  expectKernelsMatch({.graph = graph,
                      .sizes = {{{"n", 2}, {"m", 35}}},
                      .constants = std::move(constants),
                      .ranges = {{"b", {-0.3, 0.3}}},
                      .tolerance = 2e-2,
                      .only = "cuda/gemm_mma"});
}

TEST(CudaGemmMma, ConstantSecondOperand) {
  for (bool transposed : {false, true}) {
    const char* type = transposed ? "bf16" : "f16";
    expectProducts(str("symbols n, m graph g(%a: ", type, "[n, m, 104], %b: ", type,
                       transposed ? "[72, 104]" : "[104, 72]", ", %r: ", type,
                       "[n, m, 72], %s: f32[m, 1]) { %y = MatMul(%a, %b) {transpose_b = ",
                       transposed ? "true" : "false", "} epilogue(%r, %s) {cast(mul(cast(add(x0:",
                       type, ", x1:", type, "), f32), x2:f32), ", type, ")} return %y }"),
                   {"b"});
  }
}

TEST(CudaGemmMma, NothingToAddUpAtSomeSizes) {
  expectKernelsMatch({.graph = "symbols k graph g(%a: f16[35, 8*k], %b: f16[24, 8*k], %r: f16[24]) "
                               "{ %y = MatMul(%a, %b) {transpose_b = true} epilogue(%r) "
                               "{add(x0:f16, x1:f16)} return %y }",
                      .sizes = {{{"k", 9}}, {{"k", 0}}},
                      .tolerance = 2e-2});
}

TEST(CudaGemmMma, BatchesAndOddColumns) {
  expectProducts(
      "symbols n, m graph g(%a: f16[n, 3, m, 40], %b: f16[3, 33, 40]) { %y = MatMul(%a, %b) "
      "{transpose_b = true} return %y }",
      {});
}

}  // namespace
}  // namespace camshaft::cuda
