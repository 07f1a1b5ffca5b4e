// Sizes as models have them. Only on a GPU, where CAMSHAFT_TEST_DEVICE=time prints what each
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

class MovesOfRealSizes : public testing::TestWithParam<const char*> {};

TEST_P(MovesOfRealSizes, Match) {
  if (!std::getenv("CAMSHAFT_TEST_DEVICE")) GTEST_SKIP() << "needs a GPU";
  expectKernelsMatch(HarnessCase{.graph = GetParam(),
                                 .ranges = {{"ids", {0, 30521}}, {"rows", {0, 1023}}},
                                 .tolerance = 5e-3});
}

INSTANTIATE_TEST_SUITE_P(
    Models, MovesOfRealSizes,
    testing::Values(
        R"(graph g(%t: f16[30522, 768], %ids: i64[32, 128]) { %y = Gather(%t, %ids) return %y })",
        R"(graph g(%x: f16[16, 3136, 128]) { %y = Transpose(%x) {order = [0, 2, 1]} return %y })",
        R"(graph g(%x: f32[16, 128, 3136]) { %y = Transpose(%x) {order = [0, 2, 1]} return %y })",
        R"(graph g(%x: f16[32, 128, 12, 64]) {
            %y = Transpose(%x) {order = [0, 2, 1, 3]} return %y })",
        R"(graph g(%x: f16[8, 56, 56, 128], %z: f16[8, 56, 56, 128]) {
            %y = Concat(%x, %z) {axis = 3} return %y })",
        R"(graph g(%x: f16[8, 56, 56, 128]) {
            %y = Pad(%x) {begin = [0, 1, 1, 0], end = [0, 1, 1, 0]} return %y })",
        R"(graph g(%x: f16[1, 40, 40, 256]) {
            %y = Resize(%x) {mode = nearest, coordinates = asymmetric, nearest = floor,
              sizes = [1, 80, 80, 256], scales = [1, 2, 2, 1]} return %y })",
        R"(graph g(%x: f16[1, 64, 64, 128]) {
            %y = Resize(%x) {mode = linear,
              sizes = [1, 128, 128, 128], scales = [1, 2, 2, 1]} return %y })",
        R"(graph g(%x: f32[1, 21, 65, 65]) {
            %y = Resize(%x) {mode = linear,
              sizes = [1, 21, 513, 513], scales = [1, 1, 0, 0]} return %y })",
        R"(graph g(%x: f16[1024, 768], %rows: i64[256, 1], %u: f16[256, 768]) {
            %y = ScatterND(%x, %rows, %u) return %y })",
        R"(graph g(%x: f32[1, 8400]) { %v, %i = TopK(%x) {axis = 1, k = 300} return %v, %i })",
        R"(graph g(%x: f16[4, 50257]) { %v, %i = TopK(%x) {axis = 1, k = 50} return %v, %i })",
        R"(graph g(%x: f32[4096, 64]) { %v, %i = TopK(%x) {axis = 1, k = 2} return %v, %i })"));

// What vision networks begin with, by the kernels that take it.
TEST(CudaRealStems, Match) {
  if (!std::getenv("CAMSHAFT_TEST_DEVICE")) GTEST_SKIP() << "needs a GPU";
  const std::string toBytes =
      "cast(min(max(round(div(add(mul(cast(x0:i32, f32), x1:f32), x2:f32), 0.0213:f32)), 0:f32), "
      "255:f32), u8)";
  const auto window = [](int pad) {
    return str("{channels_last = true, strides = [2, 2], dilations = [1, 1], pads_begin = [", pad,
               ", ", pad, "], pads_end = [", pad, ", ", pad, "]}");
  };
  for (const char* kernel : {"cuda/conv_stem", "cuda/conv_mma"})
    for (const auto& [outputs, size] : {std::pair(64, 7), std::pair(32, 3)}) {
      const std::string weights = str("[", outputs, ", 3, ", size, ", ", size, "]");
      expectKernelsMatch(
          {.graph = str("graph g(%x: u8[32, 224, 224, 3], %w: i8", weights, ", %s: f32[", outputs,
                        "], %b: f32[", outputs, "]) { %y = ConvInteger(%x, %w) ", window(size / 2),
                        " epilogue(%s, %b) {", toBytes, "} return %y }"),
           .constants = {"w", "s", "b"},
           .ranges = {{"x", {0, 255}}, {"w", {-128, 127}}, {"s", {0, 1e-4}}},
           .tolerance = 0,
           .only = kernel});
      expectKernelsMatch({.graph = str("graph g(%x: f16[32, 224, 224, 3], %w: f16", weights,
                                       ", %b: f16[", outputs, "]) { %y = Conv(%x, %w, %b) ",
                                       window(size / 2), " epilogue() {relu(x0:f16)} return %y }"),
                          .constants = {"w", "b"},
                          .ranges = {{"w", {-0.3, 0.3}}},
                          .tolerance = 2e-2,
                          .only = kernel});
    }
}

}  // namespace
}  // namespace camshaft::cuda
