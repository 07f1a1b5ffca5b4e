#include <gtest/gtest.h>

#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/test_support.h"
#include "backends/cpu/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cpu {
namespace {

class ConvKernels : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, ConvKernels, testing::ValuesIn(availableIsas()), isaTestName);

std::string convText(const std::string& x, const std::string& w, const std::string& attributes,
                     const std::string& epilogue = "", const std::string& extra = "") {
  return str("symbols n, h, w graph g(%x: f32", x, ", %w: f32", w, extra, ") { %y = Conv(%x, %w) {",
             attributes, ", channels_last = true} ", epilogue, " return %y }");
}

const std::vector<std::map<std::string, int64_t>> kSizes = {{{"n", 2}, {"h", 13}, {"w", 17}},
                                                            {{"n", 1}, {"h", 7}, {"w", 9}},
                                                            {{"n", 3}, {"h", 8}, {"w", 8}}};

// Winograd's error is that of the sum of all products' magnitudes, so weights are kept small.
void expectConvMatches(const std::string& graph, std::set<std::string> constants = {"w"}) {
  expectKernelsMatch({.graph = graph,
                      .sizes = kSizes,
                      .constants = std::move(constants),
                      .ranges = {{"w", {-0.2, 0.2}}},
                      .tolerance = 3e-5});
}

TEST_P(ConvKernels, convolvePlanes) {
  expectConvMatches(
      convText("[n, h, w, 5]", "[7, 5, 1, 1]",
               "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"));
  expectConvMatches(
      convText("[n, h, w, 19]", "[33, 19, 3, 3]",
               "strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]"));
  expectConvMatches(
      convText("[n, h, w, 16]", "[16, 16, 3, 3]",
               "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 2], pads_end = [1, 0]"));
  expectConvMatches(
      convText("[n, h, w, 3]", "[20, 3, 7, 5]",
               "strides = [2, 3], dilations = [1, 1], pads_begin = [3, 1], pads_end = [2, 2]"));
  expectConvMatches(
      convText("[n, h, w, 8]", "[9, 8, 3, 2]",
               "strides = [1, 2], dilations = [2, 3], pads_begin = [2, 0], pads_end = [1, 3]"));
  expectConvMatches(
      convText("[n, h, w, 6]", "[5, 6, 1, 1]",
               "strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"));
}

TEST_P(ConvKernels, convolveGroups) {
  expectConvMatches(convText(
      "[n, h, w, 12]", "[18, 4, 3, 3]",
      "strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], groups = 3"));
  for (const char* strides : {"[1, 1]", "[2, 2]", "[2, 1]"})
    expectConvMatches(
        convText("[n, h, w, 21]", "[21, 1, 3, 3]",
                 str("strides = ", strides,
                     ", dilations = [1, 1], pads_begin = [1, 0], pads_end = [1, 2], groups = 21")));
  expectConvMatches(convText(
      "[n, h, w, 10]", "[20, 1, 3, 3]",
      "strides = [1, 1], dilations = [2, 1], pads_begin = [2, 1], pads_end = [2, 1], groups = 10"));
}

TEST_P(ConvKernels, convolveLines) {
  expectConvMatches(convText("[n, w, 9]", "[14, 9, 3]",
                             "strides = [2], dilations = [1], pads_begin = [1], pads_end = [0]"));
  expectConvMatches(
      convText("[n, w, 9]", "[9, 1, 5]",
               "strides = [1], dilations = [1], pads_begin = [4], pads_end = [0], groups = 9"));
}

// Each algorithm has its own way of finishing a result.
TEST_P(ConvKernels, applyEpilogues) {
  const std::pair<const char*, const char*> weights[] = {{"[20, 20, 3, 3]", ""},
                                                         {"[20, 1, 3, 3]", ", groups = 20"}};
  const char* expressions[] = {"relu(add(add(x0:f32, x1:f32), x2:f32))",
                               "min(max(add(x0:f32, add(x1:f32, x2:f32)), 0:f32), 6:f32)",
                               "silu(add(x0:f32, add(x1:f32, x2:f32)))",
                               "hard_swish(sub(add(x0:f32, x1:f32), neg(x2:f32)))",
                               "sigmoid(add(add(mul(x0:f32, 0.5:f32), x1:f32), x2:f32))",
                               "add(x2:f32, gelu(add(x0:f32, x1:f32)))",
                               "t0 = add(x0:f32, x1:f32); add(max(t0, mul(t0, 0.1:f32)), x2:f32)"};
  for (const auto& [shape, groups] : weights)
    for (const char* expression : expressions)
      for (const std::set<std::string>& constants : {std::set<std::string>{"w", "b"}, {"w"}})
        expectConvMatches(
            convText(
                "[n, h, w, 20]", shape,
                str("strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]",
                    groups),
                str("epilogue(%b, %r) {", expression, "}"), ", %b: f32[20], %r: f32[n, h, w, 20]"),
            constants);
}

TEST_P(ConvKernels, addTheBiasOfTheOperator) {
  const auto text = [](const char* op, const char* weights, const char* epilogue) {
    return str("symbols n, h, w graph g(%x: f32[n, h, w, 6], %w: f32", weights,
               ", %b: f32[11]) { %y = ", op,
               "(%x, %w, %b) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 1], pads_end "
               "= [1, 0], "
               "channels_last = true",
               std::string(op) == "Conv" ? "" : ", output_padding = [0, 0]", "} ", epilogue,
               " return %y }");
  };
  for (const char* epilogue : {"", "epilogue() {relu(mul(add(x0:f32, 2:f32), 0.5:f32))}"})
    for (const std::set<std::string>& constants : {std::set<std::string>{"w", "b"}, {"w"}}) {
      expectConvMatches(text("Conv", "[11, 6, 3, 2]", epilogue), constants);
      expectConvMatches(text("ConvTranspose", "[6, 11, 3, 2]", epilogue), constants);
    }
}

TEST_P(ConvKernels, transpose) {
  const auto text = [](const char* x, const char* w, const char* attributes,
                       const char* epilogue = "", const char* extra = "") {
    return str("symbols n, h, w graph g(%x: f32", x, ", %w: f32", w, extra,
               ") { %y = ConvTranspose(%x, %w) {", attributes, ", channels_last = true} ", epilogue,
               " return %y }");
  };
  expectConvMatches(text("[n, h, w, 6]", "[6, 9, 2, 2]",
                         "strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = "
                         "[0, 0], output_padding = [0, 0]"));
  expectConvMatches(text("[n, h, w, 5]", "[5, 8, 4, 3]",
                         "strides = [2, 3], dilations = [1, 2], pads_begin = [1, 2], pads_end = "
                         "[2, 1], output_padding = [1, 0]"));
  expectConvMatches(text(
      "[n, w, 5]", "[5, 7, 4]",
      "strides = [2], dilations = [1], pads_begin = [1], pads_end = [1], output_padding = [0]"));
  for (const char* expression :
       {"relu(add(add(x0:f32, x1:f32), x2:f32))", "silu(add(add(x0:f32, x1:f32), x2:f32))",
        "min(max(add(add(x0:f32, x1:f32), x2:f32), -1:f32), 1:f32)",
        "mul(add(x0:f32, x1:f32), x2:f32)"})
    expectConvMatches(text("[n, h, w, 6]", "[6, 9, 2, 2]",
                           "strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = "
                           "[0, 0], output_padding = [0, 0]",
                           str("epilogue(%b, %r) {", expression, "}").c_str(),
                           ", %b: f32[9], %r: f32[n, 2*h, 2*w, 9]"));
}

TEST_P(ConvKernels, transposePatches) {
  const auto text = [](const char* type, const char* image, const char* channels,
                       const char* epilogue) {
    const auto typed = [&](const std::string& shape) { return str(": ", type, shape); };
    return str("symbols n, h, w graph g(%x", typed(str("[n, h, w, ", image, "]")), ", %w",
               typed(str("[", image, ", ", channels, ", 2, 3]")), ", %b: f32[", channels, "], %r",
               typed(str("[n, 2*h, 3*w, ", channels, "]")),
               ") { %y = ConvTranspose(%x, %w, %b) {strides = [2, 3], dilations = [1, 1], "
               "pads_begin = [0, 0], pads_end = [0, 0], output_padding = [0, 0], channels_last = "
               "true} ",
               epilogue, " return %y }");
  };
  const auto expect = [&](const char* image, const char* channels, const std::string& residual,
                          const std::string& expression) {
    const auto epilogue = [&](const char* type) {
      std::string typed = expression;
      for (size_t at; (at = typed.find("TYPE")) != std::string::npos;) typed.replace(at, 4, type);
      return str("epilogue(", residual, ") {", typed, "}");
    };
    expectConvMatches(text("f32", image, channels, epilogue("f32").c_str()));
    if (!hasGemm16(Type16::kBf16)) return;
    for (const char* type : {"f32", "bf16"})
      expectKernelsMatch({.graph = text(type, image, channels, epilogue(type).c_str()),
                          .sizes = kSizes,
                          .constants = {"w"},
                          .ranges = {{"w", {-0.2, 0.2}}},
                          .tolerance = 3e-2,
                          .only = "cpu/conv_transpose_bf16_nhwc_gemm",
                          .productType = DataType::kBF16});
  };
  expect("6", "9", "", "relu(x0:TYPE)");
  expect("24", "1", "", "sigmoid(x0:TYPE)");
  expect("35", "40", "%r", "relu(add(x0:TYPE, x1:TYPE))");
  expect("8", "5", "%r", "mul(add(x0:TYPE, 1:TYPE), x1:TYPE)");
  expect("7", "190", "%r", "mul(x0:TYPE, x1:TYPE)");
}

TEST_P(ConvKernels, sayWhyNot) {
  const auto refusals = [](const char* x, const char* w, const char* attributes) {
    return refusalsOf(str("graph g(%x: f32", x, ", %w: f32", w, ") { %y = Conv(%x, %w) {",
                          attributes, "} return %y }"));
  };
  const char* k2d =
      "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], channels_last "
      "= true";
  EXPECT_NE(refusals("[1, 4, 4, 3]", "[5, 3, 1, 1]", k2d)
                .find("conv_f32_nhwc_gemm: needs constant weights"),
            std::string::npos);
  EXPECT_NE(refusals("[1, 3, 4, 4]", "[5, 3, 1, 1]",
                     "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]")
                .find("needs channels last"),
            std::string::npos);
}

}  // namespace
}  // namespace camshaft::cpu
