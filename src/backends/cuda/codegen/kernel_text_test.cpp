#include <gmock/gmock.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

using testing::HasSubstr;

TEST(KernelText, GridsThatNoDeviceHasAreRefused) {
  const std::string sample =
      "symbols c graph g(%x: f32[1, c, 2, 2], %p: f32[1, 3, 1, 2]) { %y = GridSample(%x, %p) "
      "return %y }";
  EXPECT_EQ(refusalsAt(sample, {{"c", 16 * 65535}}), "cuda/grid_sample: yes");
  EXPECT_THAT(refusalsAt(sample, {{"c", 16 * 65535 + 1}}),
              HasSubstr("65535 blocks that a grid has along y"));
  const std::string attention =
      "symbols h graph g(%q: f32[1, h, 3, 8]) { %y = Attention(%q, %q, %q) {scale = 1} return %y }";
  EXPECT_EQ(refusalsAt(attention, {{"h", 65535}}), "cuda/attention_plain: yes");
  EXPECT_THAT(refusalsAt(attention, {{"h", 65536}}),
              HasSubstr("65535 blocks that a grid has along y"));
  EXPECT_THAT(
      refusalsAt("symbols n graph g(%x: f32[n, 64]) { %y = CumSum(%x) {axis = 1} return %y }",
                 {{"n", int64_t{1} << 31}}),
      HasSubstr("blocks that a grid has along x"));
}

// A sum of a tensor and a constant.
std::string textFor(const BuildTarget& target) {
  const HarnessCase testCase{
      .graph =
          "graph g(%x: f32[8], %c: f32[8]) { %y = Pointwise(%x, %c) {expr = add(x0:f32, "
          "x1:f32)} return %y }",
      .constants = {"c"}};
  Harness harness(testCase);
  harness.target = target;
  return harness.prepare(buildBackend().kernelsFor(harness.node()).front(), 0).source;
}

// Loads of what is const and __restrict__ may be moved in front of the wait for the kernel before.
TEST(KernelText, WhatTheKernelBeforeWritesIsNotRestrict) {
  const auto writtenBefore = HasSubstr("(const float* x0, const float* __restrict__ x1, float* y)");
  const auto fixed =
      HasSubstr("(const float* __restrict__ x0, const float* __restrict__ x1, float* y)");
  EXPECT_THAT(textFor({.computeCapability = 90}), writtenBefore);
  EXPECT_THAT(textFor({.computeCapability = 120}), writtenBefore);
  // Where kernels are launched one after the other.
  EXPECT_THAT(textFor({.computeCapability = 75}), fixed);
  EXPECT_THAT(textFor({.computeCapability = 89}), fixed);
  EXPECT_THAT(textFor({.computeCapability = 90, .isPortable = true}), fixed);
}

// x_first + ... + x_(end - 1), by halves: text does not nest as deep as there are inputs.
std::string sumOf(int first, int end) {
  if (end - first == 1) return str("x", first, ":f32");
  const int middle = (first + end) / 2;
  return str("add(", sumOf(first, middle), ", ", sumOf(middle, end), ")");
}

TEST(KernelText, MoreArgumentsThanADeviceTakesAreRefused) {
  constexpr int kInputs = 520;
  std::string inputs, names;
  for (int i = 0; i < kInputs; ++i) {
    inputs += str(i == 0 ? "" : ", ", "%v", i, ": f32[3]");
    names += str(i == 0 ? "" : ", ", "%v", i);
  }
  EXPECT_THAT(refusalsAt(str("graph g(", inputs, ") { %y = Pointwise(", names,
                             ") {expr = ", sumOf(0, kInputs), "} return %y }"),
                         {}),
              HasSubstr("more than 512 operands, sizes and numbers"));
}

}  // namespace
}  // namespace camshaft::cuda
