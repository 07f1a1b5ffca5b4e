// Rows as models have them. Only on a GPU, where CAMSHAFT_TEST_DEVICE=time prints what each
// configuration takes; the emulator would take minutes.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

class CudaRealSizes : public testing::TestWithParam<const char*> {};

TEST_P(CudaRealSizes, Match) {
  if (!std::getenv("CAMSHAFT_TEST_DEVICE")) GTEST_SKIP() << "needs a GPU";
  expectKernelsMatch(HarnessCase{.graph = GetParam(), .tolerance = 5e-3});
}

INSTANTIATE_TEST_SUITE_P(
    Transformers, CudaRealSizes,
    testing::Values(
        "graph g(%x: f16[128, 768], %s: f16[768], %b: f16[768]) { %y = LayerNorm(%x, %s, %b) {axis "
        "= "
        "1} return %y }",
        "graph g(%x: f16[128, 768], %r: f16[128, 768], %s: f16[768], %b: f16[768]) { %y, %v = "
        "PointwiseNorm(%x, %r, %s, %b) {expr = add(x0:f16, x1:f16), axis = 1, keeps_value = true} "
        "return %y, %v }",
        "graph g(%x: f16[4096, 768], %r: f16[4096, 768], %s: f16[768], %b: f16[768]) { %y, %v = "
        "PointwiseNorm(%x, %r, %s, %b) {expr = add(x0:f16, x1:f16), axis = 1, keeps_value = true} "
        "return %y, %v }",
        "graph g(%x: f16[3136, 96], %s: f16[96], %b: f16[96]) { %y = LayerNorm(%x, %s, %b) {axis = "
        "1} return %y }",
        "graph g(%x: f16[2364, 197]) { %y = Softmax(%x) {axis = 1} return %y }",
        "graph g(%x: f16[9408, 49]) { %y = Softmax(%x) {axis = 1} return %y }",
        "graph g(%x: f32[1536, 128]) { %y = Softmax(%x) {axis = 1} return %y }",
        "graph g(%x: f16[4, 50257]) { %y = ArgReduce(%x) {axis = 1} return %y }"));

INSTANTIATE_TEST_SUITE_P(
    Images, CudaRealSizes,
    testing::Values(
        "graph g(%x: f16[1, 7, 7, 2048]) { %y = Reduce(%x) {kind = mean, axes = [1, 2]} return %y "
        "}",
        "graph g(%x: f16[16, 7, 7, 2048]) { %y = Reduce(%x) {kind = mean, axes = [1, 2]} return %y "
        "}",
        "graph g(%x: f16[1, 112, 112, 32]) { %y = Reduce(%x) {kind = mean, axes = [1, 2]} return "
        "%y }",
        "graph g(%x: f16[1, 2048, 7, 7]) { %y = Reduce(%x) {kind = mean, axes = [2, 3]} return %y "
        "}",
        "graph g(%x: f32[1048576]) { %y = Reduce(%x) {kind = sum, axes = [0]} return %y }",
        "graph g(%x: f16[1, 112, 112, 64]) { %y = Pool(%x) {kind = max, kernel = [3, 3], strides = "
        "[2, 2], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], channels_last = true} "
        "return %y }",
        "graph g(%x: f16[8, 112, 112, 64]) { %y = Pool(%x) {kind = max, kernel = [3, 3], strides = "
        "[2, 2], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], channels_last = true} "
        "return %y }",
        "graph g(%x: f16[2, 64, 64, 320], %s: f16[320], %b: f16[320]) { %y = GroupNorm(%x, %s, %b) "
        "{groups = 32, channels_last = true} epilogue() {silu(x0:f16)} return %y }",
        "graph g(%x: f16[1, 128, 128, 64]) { %y = GroupNorm(%x) {groups = 0, channels_last = true} "
        "return %y }"));

}  // namespace
}  // namespace camshaft::cuda
