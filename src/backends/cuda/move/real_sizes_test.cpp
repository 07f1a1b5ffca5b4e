// Moved elements as models have them. Only on a GPU, where CAMSHAFT_TEST_DEVICE=time prints what
// each kernel takes; the emulator would take minutes.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

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

}  // namespace
}  // namespace camshaft::cuda
