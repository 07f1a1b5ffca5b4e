#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

TEST(CudaGemmFewRows, EitherWayRound) {
  for (const int64_t most : {1, 5, 11})
    for (const bool transposed : {false, true}) {
      const char* type = transposed ? "bf16" : "f16";
      expectKernelsMatch(
          {.graph =
               str("symbols n graph g(%a: ", type, "[n, 1, 392], %b: ", type,
                   transposed ? "[37, 392]" : "[392, 37]", ", %r: ", type,
                   "[37]) { %y = MatMul(%a, %b) {transpose_b = ", transposed ? "true" : "false",
                   "} epilogue(%r) {relu(add(x0:", type, ", x1:", type, "))} return %y }"),
           .sizes = {{{"n", 1}}, {{"n", most}}},
           .constants = {"b"},
           .ranges = {{"b", {-0.3, 0.3}}},
           .tolerance = 3e-2,
           .only = "cuda/gemm_few_rows"});
    }
}

}  // namespace
}  // namespace camshaft::cuda
