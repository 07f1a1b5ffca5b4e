#include <gmock/gmock.h>

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

TEST(KernelText, MoreArgumentsThanADeviceTakesAreRefused) {
  std::string inputs, names, sum = "x0:f32";
  for (int i = 0; i < 520; ++i) {
    inputs += str(i == 0 ? "" : ", ", "%v", i, ": f32[3]");
    names += str(i == 0 ? "" : ", ", "%v", i);
    if (i > 0) sum = str("add(", sum, ", x", i, ":f32)");
  }
  EXPECT_THAT(refusalsAt(str("graph g(", inputs, ") { %y = Pointwise(", names, ") {expr = ", sum,
                             "} return %y }"),
                         {}),
              HasSubstr("more than 512 operands and sizes"));
}

}  // namespace
}  // namespace camshaft::cuda
