#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

TEST(RandomKernels, DrawWhatTheHostDraws) {
  for (const char* type : {"f32", "f64", "f16", "bf16"})
    for (const char* kind : {"uniform", "normal"})
      expectKernelsMatch(std::string("symbols n graph g(%x: f32[n]) { %y = Random() {shape = [n, "
                                     "7], low = -1.5, high = 2, seed = -77, type = ") +
                             type + ", kind = " + kind + "} return %y }",
                         {{{"n", 3}}, {{"n", 100}}});
}

}  // namespace
}  // namespace camshaft::cuda
