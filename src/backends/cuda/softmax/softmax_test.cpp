#include <gtest/gtest.h>

#include <cmath>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

TEST(CudaSoftmax, RowsOfEachType) {
  for (const char* type : {"f32", "f16", "bf16", "f64"})
    expectKernelsMatch(
        str("symbols n graph g(%x: ", type, "[n, 40]) { %y = Softmax(%x) {axis = 1} return %y }"),
        {{{"n", 1}}, {{"n", 37}}});
}

TEST(CudaSoftmax, RowsOfEachLength) {
  for (int size : {1, 3, 49, 197, 768, 1000})
    expectKernelsMatch(
        str("graph g(%x: f16[2, 3, ", size, "]) { %y = Softmax(%x) {axis = 2} return %y }"));
  expectKernelsMatch("symbols t graph g(%x: f32[5, t]) { %y = Softmax(%x) {axis = 1} return %y }",
                     {{{"t", 1}}, {{"t", 67}}, {{"t", 3000}}});
  expectKernelsMatch("graph g(%x: f32[2, 40001]) { %y = Softmax(%x) {axis = 1} return %y }");
}

TEST(CudaSoftmax, OtherAxesAndKinds) {
  for (const char* kind : {"softmax", "log_softmax", "hardmax"})
    for (int axis : {0, 1, 2})
      expectKernelsMatch(str("symbols n, t graph g(%x: f32[n, t, 6]) { %y = Softmax(%x) {axis = ",
                             axis, ", kind = ", kind, "} return %y }"),
                         {{{"n", 2}, {"t", 5}}, {{"n", 3}, {"t", 67}}});
}

TEST(CudaSoftmax, HardmaxTakesTheFirstOfEqualElements) {
  expectKernelsMatch({.graph = "graph g(%x: f32[7, 90]) { %y = Softmax(%x) {axis = 1, kind = "
                               "hardmax} return %y }",
                      .values = {{"x", {1, 3, 2, 3, 0, NAN, 3}}}});
}

TEST(CudaSoftmax, WithAnEpilogue) {
  expectKernelsMatch(
      {.graph =
           "symbols n graph g(%x: f16[n, 4, 64], %m: f32[4, 1], %r: f16[n, 1, 64]) { %y = "
           "Softmax(%x) "
           "{axis = 2} epilogue(%m, %r) {add(mul(cast(x0:f16, f32), x1:f32), cast(x2:f16, f32))} "
           "return %y }",
       .sizes = {{{"n", 3}}},
       .tolerance = 2e-3});
}

}  // namespace
}  // namespace camshaft::cuda
