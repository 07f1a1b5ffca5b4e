#include <gtest/gtest.h>

#include <algorithm>

#include "backend/kernel.h"
#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/params.h"
#include "backends/cpu/gemm/split_gemm.h"
#include "backends/cpu/gemm/test_support.h"
#include "backends/cpu/kernel_harness.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft::cpu {
namespace {

class MatMulKernels : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, MatMulKernels, testing::ValuesIn(availableIsas()), isaTestName);

// Every kernel, to the precision it promises.
void expectProductsMatch(HarnessCase testCase) {
  if (!testCase.constants.contains("b")) return expectKernelsMatch(testCase);
  testCase.only = gemm::kPacked;
  expectKernelsMatch(testCase);
  if (hasGemm16(Type16::kBf16)) {
    HarnessCase rounded = testCase;
    rounded.only = gemm::kBf16;
    rounded.productType = DataType::kBF16;
    rounded.tolerance = 6e-2;
    expectKernelsMatch(rounded);
  }
  if (hasGemm16(Type16::kF16)) {
    HarnessCase rounded = testCase;
    rounded.only = gemm::kF16;
    rounded.productType = DataType::kF16;
    rounded.tolerance = 2e-2;
    expectKernelsMatch(rounded);
  }
  if (!hasSplitGemm()) return;
  testCase.only = gemm::kSplit;
  testCase.tolerance = 3e-4;
  expectKernelsMatch(testCase);
}

TEST_P(MatMulKernels, multiplyByConstantWeights) {
  for (const char* b : {"f32[37, 51]", "f32[1, 37, 51]"})
    expectProductsMatch({.graph = str("symbols n graph g(%a: f32[n, 3, 37], %b: ", b,
                                      ") { %y = MatMul(%a, %b) return %y }"),
                         .sizes = {{{"n", 5}}, {{"n", 1}}, {{"n", 0}}},
                         .constants = {"b"}});
  expectProductsMatch({.graph = "symbols n graph g(%a: f32[n, 37], %b: f32[51, 37]) "
                                "{ %y = MatMul(%a, %b) {transpose_b = true} return %y }",
                       .sizes = {{{"n", 70}}, {{"n", 1}}},
                       .constants = {"b"}});
}

TEST_P(MatMulKernels, multiplyColumnsByConstantWeights) {
  expectProductsMatch(
      {.graph = "symbols n, m graph g(%a: f32[n, 37, m], %b: f32[37, 51], %r: f32[n, m, 51]) "
                "{ %y = MatMul(%a, %b) {transpose_a = true} epilogue(%r) "
                "{add(x0:f32, x1:f32)} return %y }",
       .sizes = {{{"n", 3}, {"m", 70}}, {{"n", 1}, {"m", 1}}, {{"n", 2}, {"m", 0}}},
       .constants = {"b"}});
}

TEST_P(MatMulKernels, multiplyActivationsOfAllOrientations) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      expectKernelsMatch(
          {.graph =
               str("symbols n, m graph g(%a: f32[n, ", ta ? "21, m" : "m, 21", "], %b: f32[n, ",
                   tb ? "33, 21" : "21, 33", "]) { %y = MatMul(%a, %b) {transpose_a = ", ta,
                   ", transpose_b = ", tb, "} return %y }"),
           .sizes = {{{"n", 4}, {"m", 17}}, {{"n", 1}, {"m", 1}}, {{"n", 2}, {"m", 40}}}});
}

TEST_P(MatMulKernels, broadcastBatches) {
  const std::pair<const char*, const char*> shapes[] = {
      {"[2, 3, 5, 7]", "[3, 7, 4]"},          {"[5, 7]", "[2, 3, 7, 4]"},
      {"[2, 1, 5, 7]", "[1, 3, 7, 4]"},       {"[4, 5, 7]", "[1, 7, 4]"},
      {"[2, 1, 3, 5, 7]", "[1, 4, 1, 7, 6]"}, {"[2, 1, 3, 1, 5, 7]", "[3, 1, 2, 7, 6]"}};
  for (const auto& [a, b] : shapes)
    expectKernelsMatch(
        str("graph g(%a: f32", a, ", %b: f32", b, ") { %y = MatMul(%a, %b) return %y }"));
}

TEST_P(MatMulKernels, sumOverNothingIsTheBias) {
  expectKernelsMatch(
      "graph g(%a: f32[3, 0], %b: f32[0, 5], %c: f32[5]) "
      "{ %y = MatMul(%a, %b) epilogue(%c) {add(x0:f32, x1:f32)} return %y }");
}

// Deep enough to be added up in several passes, over a residual that may be the result's memory.
TEST_P(MatMulKernels, addUpDeepProducts) {
  for (const std::set<std::string>& constants : {std::set<std::string>{"b"}, {}})
    expectProductsMatch(
        {.graph = "graph g(%a: f32[9, 2500], %b: f32[2500, 40], %c: f32[40], %r: f32[9, 40]) "
                  "{ %y = MatMul(%a, %b) epilogue(%c, %r) "
                  "{silu(add(add(x0:f32, x1:f32), x2:f32))} return %y }",
         .constants = constants,
         .ranges = {{"b", {-0.05, 0.05}}}});
}

// In registers or on finished blocks, whichever a kernel can do.
TEST_P(MatMulKernels, applyEpilogues) {
  const char* expressions[] = {"relu(x0:f32)",
                               "add(x0:f32, x1:f32)",
                               "relu(add(add(x0:f32, x1:f32), x2:f32))",
                               "add(mul(x0:f32, 0.25:f32), add(x2:f32, 1.5:f32))",
                               "min(max(add(x0:f32, x1:f32), 0:f32), 6:f32)",
                               "max(min(x0:f32, 0.5:f32), -0.5:f32)",
                               "sigmoid(add(x0:f32, x1:f32))",
                               "silu(x0:f32)",
                               "t0 = add(x0:f32, x1:f32); mul(t0, sigmoid(t0))",
                               "hard_swish(x0:f32)",
                               "gelu(add(x0:f32, x1:f32))",
                               "gelu_tanh(add(x0:f32, x1:f32))",
                               "tanh(sub(x0:f32, x2:f32))",
                               "add(x2:f32, silu(add(x0:f32, x1:f32)))",
                               "where(less(x0:f32, 0:f32), mul(x0:f32, x1:f32), x0:f32)",
                               "mul(add(x0:f32, x1:f32), x2:f32)",
                               "add(x0:f32, add(mul(x0:f32, x2:f32), x1:f32))"};
  for (const char* expression : expressions) {
    const std::string text = expression;
    const bool usesBias = text.find("x1") != text.npos, usesResidual = text.find("x2") != text.npos;
    std::string renamed = text, operands = usesBias ? "%bias" : "";
    if (usesResidual) operands += usesBias ? ", %residual" : "%residual";
    if (usesResidual && !usesBias) renamed.replace(renamed.find("x2"), 2, "x1");
    const std::string graph =
        str("symbols n graph g(%a: f32[n, 2, 19], %b: f32[19, 45], %bias: f32[45], "
            "%residual: f32[n, 2, 45]) { %y = MatMul(%a, %b) epilogue(",
            operands, ") {", renamed, "} return %y }");
    for (const std::set<std::string>& constants : {std::set<std::string>{"b", "bias"}, {"b"}, {}})
      expectProductsMatch(
          {.graph = graph, .sizes = {{{"n", 9}}, {{"n", 1}}}, .constants = constants});
  }
}

TEST_P(MatMulKernels, addOperandsThatBroadcastOtherwise) {
  for (const char* operand :
       {"f32[]", "f32[1, 1]", "f32[6, 1]", "f32[4, 1, 33]", "f32[4, 6, 1]", "i32[33]"})
    expectKernelsMatch(str("graph g(%a: f32[4, 6, 8], %b: f32[4, 8, 33], %c: ", operand,
                           ") { %y = MatMul(%a, %b) epilogue(%c) {add(x0:f32, ",
                           operand[0] == 'i' ? "cast(x1:i32, f32)" : "x1:f32", ")} return %y }"));
}

TEST_P(MatMulKernels, saysWhyNot) {
  const std::string refusals =
      refusalsOf("graph g(%a: f64[2, 3], %b: f64[3, 4]) { %y = MatMul(%a, %b) return %y }");
  EXPECT_NE(refusals.find("multiplies f32, not f64"), refusals.npos) << refusals;
  EXPECT_NE(refusalsOf("graph g(%a: f32[2, 3], %b: f32[3, 4]) { %y = MatMul(%a, %b) epilogue() "
                       "{cast(x0:f32, i8)} return %y }")
                .find("changes the element type"),
            std::string::npos);
}

// Panels of another width would give wrong results without a word.
TEST_P(MatMulKernels, refuseWeightsPackedForAnotherInstructionSet) {
  const Graph graph = parseGraph(
      "graph g(%a: f32[2, 2]) { %b: f32[2, 2] = constant [1, 2, 3, 4] %y = MatMul(%a, %b) return "
      "%y }",
      findOp);
  const auto findNamed = [](auto list) {
    return *std::ranges::find(list, gemm::kPacked, [](const auto& entry) { return entry.name; });
  };
  const Prepared prepared = findNamed(gemm::kernels()).prepare(*graph.nodes().front(), {}, 0);
  EXPECT_NE(findNamed(gemm::launchers()).load(prepared.params), nullptr);
  for (const std::string_view isa : availableIsas()) {
    if (isa == GetParam()) continue;
    ASSERT_TRUE(setIsa(isa));
    EXPECT_THROW(findNamed(gemm::launchers()).load(prepared.params), Error);
  }
}

}  // namespace
}  // namespace camshaft::cpu
