#include "backends/cuda/conv/pixels.h"

#include <gtest/gtest.h>

#include "backends/cuda/gemm/hopper/params.h"
#include "ir/graph.h"
#include "ops/ops.h"

namespace camshaft::cuda {
namespace {

class CudaPixels : public testing::Test {
 protected:
  // The last node of `text`, with constant weights %w.
  const Node& nodeOf(const std::string& text) {
    graph_ = parseGraph(text, findOp);
    Value* input = graph_.find("w");
    const size_t bytes = numElements(input->shape()).value() * bitsOf(input->dataType()) / 8;
    graph_.replaceUses(input, graph_.addConstant("data", input->type,
                                                 ConstantData::own(std::vector<std::byte>(bytes))));
    graph_.removeInput(input);
    return *graph_.nodes().back();
  }

 private:
  Graph graph_;
};

TEST_F(CudaPixels, AreRowsOfAProduct) {
  const Node& node = nodeOf(
      "symbols n graph g(%x: f16[n, 14, 14, 64], %w: f16[256, 64, 1, 1], %b: f16[256], %r: f16[n, "
      "14, 14, 256]) { %y = Conv(%x, %w, %b) {strides = [1, 1], dilations = [1, 1], pads_begin = "
      "[0, 0], pads_end = [0, 0], channels_last = true} epilogue(%r) {relu(add(x0:f16, x1:f16))} "
      "return %y }");
  const Kernel& kernel = hopperPixelKernel();
  BuildContext context;
  context.opt = context.min = context.max = [](const Dim& dim) {
    return evaluate(dim, [](const std::string&) { return int64_t{8}; });
  };
  const Verdict verdict = kernel.supports(node, context);
  ASSERT_TRUE(verdict) << verdict.reason;
  const Prepared prepared =
      kernel.prepare(node, context, kernel.configurations(node, context).front());
  ASSERT_EQ(prepared.verdict.reason, "");
  EXPECT_EQ(prepared.runtimeKernel, kHopperGemmKernel);
  ASSERT_EQ(prepared.inputs.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(prepared.inputs[i].nodeInput, i);
  const Dim rows = node.output()->shape()[0] * Dim(14 * 14);
  EXPECT_EQ(prepared.dimArgs, (std::vector<Dim>{rows, 256, 64, 1}));
  EXPECT_TRUE(kernel.inPlace(node, 3));
  EXPECT_FALSE(kernel.inPlace(node, 0));
}

TEST_F(CudaPixels, MustBeLookedAtOneByOne) {
  for (const char* attributes : {"strides = [2, 2], pads_begin = [0, 0], channels_last = true",
                                 "strides = [1, 1], pads_begin = [1, 1], channels_last = true",
                                 "strides = [1, 1], pads_begin = [0, 0]"}) {
    const Node& node =
        nodeOf(std::string("graph g(%x: f16[1, 8, 8, 8], %w: f16[16, 8, 1, 1]) { %y = Conv(%x, %w) "
                           "{dilations = [1, 1], pads_end = [0, 0], ") +
               attributes + "} return %y }");
    EXPECT_FALSE(hopperPixelKernel().supports(node, {})) << attributes;
  }
}

}  // namespace
}  // namespace camshaft::cuda
