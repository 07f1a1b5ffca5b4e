#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

TEST(EinsumKernels, Contract) {
  expectKernelsMatch(
      "symbols n graph g(%a: f32[n, 3, 4], %b: f32[n, 4, 5], %c: f32[5]) {"
      "  %y = Einsum(%a, %b, %c) {equation = \"bij,bjk,k->ibk\"} return %y }",
      {{{"n", 2}}, {{"n", 0}}});
  expectKernelsMatch(
      "graph g(%a: i8[4, 4], %b: i8[1, 4]) { %y = Einsum(%a, %b) {equation = \"ii,ji->i\"} return "
      "%y }");
  expectKernelsMatch(
      "symbols n graph g(%a: f16[n, 6], %r: f16[6]) {"
      "  %y = Einsum(%a) {equation = \"ij->j\"} epilogue(%r) {add(x0:f16, x1:f16)} return %y }",
      {{{"n", 7}}});
}

}  // namespace
}  // namespace camshaft::cuda
