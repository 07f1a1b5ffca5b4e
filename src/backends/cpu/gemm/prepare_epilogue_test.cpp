#include "backends/cpu/gemm/prepare_epilogue.h"

#include <gtest/gtest.h>

#include "ops/ops.h"

namespace camshaft::cpu {
namespace {

// Of MatMul [n, 4] x [4, 2] with epilogue operands %bias (constant), %vector and %residual.
FusedEpilogue fuse(const std::string& operands, const std::string& expression) {
  Graph graph = parseGraph(
      str("symbols n graph g(%a: f32[n, 4], %b: f32[4, 2], %vector: f32[2], %residual: f32[n, 2]) "
          "{ %bias: f32[2] = constant [1, -2] %y = MatMul(%a, %b) epilogue(",
          operands, ") {", expression, "} return %y }"),
      findOp);
  return fuseEpilogue(*graph.nodes().front());
}

TEST(FusedEpilogue, holdsAffineActivationsInRegisters) {
  const FusedEpilogue fused =
      fuse("%bias, %residual", "relu(add(mul(sub(x0:f32, x1:f32), 3:f32), sub(x2:f32, 1:f32)))");
  EXPECT_EQ(fused.refusal, "");
  EXPECT_EQ(fused.activation, Activation::kRelu);
  EXPECT_EQ(fused.scale, 3);
  EXPECT_EQ(fused.bias, (std::vector<float>{-4, 5}));
  EXPECT_EQ(fused.residualInput, 3);
  EXPECT_TRUE(fused.program.empty());
}

TEST(FusedEpilogue, readsABiasThatIsNotConstant) {
  const FusedEpilogue fused = fuse("%vector", "silu(add(x1:f32, x0:f32))");
  EXPECT_EQ(fused.activation, Activation::kSilu);
  EXPECT_EQ(fused.biasInput, 2);
  EXPECT_TRUE(fused.bias.empty());
}

TEST(FusedEpilogue, foldsBounds) {
  const FusedEpilogue fused = fuse("", "min(relu(x0:f32), 6:f32)");
  EXPECT_EQ(fused.activation, Activation::kClip);
  EXPECT_EQ(fused.low, 0);
  EXPECT_EQ(fused.high, 6);
}

TEST(FusedEpilogue, mapsActivationsInRegisters) {
  const FusedEpilogue fused =
      fuse("%bias, %residual",
           "add(div(sub(mul(2:f32, hard_swish(add(x0:f32, x1:f32))), 3:f32), 4:f32), x2:f32)");
  EXPECT_EQ(fused.refusal, "");
  EXPECT_EQ(fused.activation, Activation::kHardSwish);
  EXPECT_EQ(fused.outScale, 0.5f);
  EXPECT_EQ(fused.outShift, -0.75f);
  EXPECT_EQ(toString(fused.program), "add(x0:f32, x1:f32)");
  // What a constant is taken from or divided by is left to the program.
  EXPECT_EQ(toString(fuse("", "div(2:f32, relu(x0:f32))").program), "div(2:f32, x0:f32)");
  EXPECT_EQ(toString(fuse("", "sub(2:f32, relu(x0:f32))").program), "sub(2:f32, x0:f32)");
  // The activation's result, needed twice.
  EXPECT_EQ(fuse("", "t0 = relu(x0:f32); add(mul(t0, 2:f32), t0)").outScale, 1.0f);
}

TEST(FusedEpilogue, leavesTheRestToAProgram) {
  const FusedEpilogue fused = fuse("%residual, %bias", "add(x1:f32, silu(add(x0:f32, x2:f32)))");
  EXPECT_EQ(fused.activation, Activation::kSilu);
  EXPECT_EQ(fused.bias, (std::vector<float>{1, -2}));
  EXPECT_EQ(fused.residualInput, -1);
  EXPECT_EQ(toString(fused.program), "add(x1:f32, x0:f32)");
  EXPECT_EQ(fused.programInputs, (std::vector<int>{2}));
}

TEST(FusedEpilogue, keepsAResultThatIsNeededTwice) {
  const FusedEpilogue fused = fuse("%bias", "t0 = add(x0:f32, x1:f32); add(relu(t0), x0:f32)");
  EXPECT_EQ(fused.activation, Activation::kNone);
  EXPECT_TRUE(fused.bias.empty());
  EXPECT_EQ(fused.programInputs, (std::vector<int>{2}));
}

TEST(FusedEpilogue, refusesOtherElementTypes) {
  EXPECT_EQ(fuse("", "cast(x0:f32, i8)").refusal, "its epilogue changes the element type");
}

TEST(FusedEpilogue, overwritesOnlyResidualsReadOnce) {
  const auto overwrites = [](const std::string& text, int input) {
    Graph graph =
        parseGraph("graph g(%a: f32[2, 2], %b: f32[2, 2], %r: f32[2, 2]) { %y = MatMul(%a, %b) " +
                       text + " return %y }",
                   findOp);
    return overwritesResidual(*graph.nodes().front(), input);
  };
  EXPECT_FALSE(overwrites("", 0));
  EXPECT_FALSE(overwrites("epilogue(%a) {add(x0:f32, x1:f32)}", 2));
  EXPECT_FALSE(overwrites("epilogue(%a) {add(x0:f32, x1:f32)}", 0));
  EXPECT_TRUE(overwrites("epilogue(%r) {add(x0:f32, x1:f32)}", 2));
  EXPECT_FALSE(overwrites("epilogue(%r) {add(add(x0:f32, x1:f32), x1:f32)}", 2));
  EXPECT_FALSE(overwrites("epilogue(%r) {mul(relu(add(x0:f32, x1:f32)), x1:f32)}", 2));
}

}  // namespace
}  // namespace camshaft::cpu
