#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

TEST(ShapeKernels, TensorsOfSizes) {
  expectKernelsMatch(
      "symbols t graph g(%x: f32[t], %a: i64[], %b: i64[]) { %y = Range(%a, %b) {count = t} return "
      "%y }",
      {{{"t", 300}}, {{"t", 0}}});
  expectKernelsMatch(HarnessCase{
      .graph = "graph g(%a: f16[], %b: f16[]) { %y = Range(%a, %b) {count = 40} return %y }"});
  expectKernelsMatch(
      "symbols n, h graph g(%x: f32[n, 4, h]) { %y = Shape(%x) {begin = 1, end = 3} return %y }",
      {{{"n", 2}, {"h", 3}}});
  expectKernelsMatch(
      "symbols n, h graph g(%x: f32[n, h]) { %y = DimsTensor() {values = [n*h, h + 2, 7], type = "
      "i32} return %y }",
      {{{"n", 2}, {"h", 3}}});
  expectKernelsMatch(HarnessCase{.graph = "symbols n graph g(%x: f32[n], %s: i64[3]) { %y = "
                                          "ReshapeDims(%s) {input = [n, 12, 5]} return %y }",
                                 .sizes = {{{"n", 4}}},
                                 .values = {{"s", {0, -1, 10}}}});
}

}  // namespace
}  // namespace camshaft::cuda
