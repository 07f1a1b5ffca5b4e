#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

using Range = std::pair<double, double>;

Range rangeOf(std::string_view type) { return type == "u8" ? Range{0, 255} : Range{-128, 127}; }

// cast(min(max(add(round(t), 3), 0), 255), u8) of t = x0 * x1
constexpr char kToBytes[] =
    "{cast(min(max(add(round(mul(cast(x0:i32, f32), x1:f32)), 3:f32), 0:f32), 255:f32), u8)}";

HarnessCase product(const std::string& a, const std::string& b, const std::string& rest,
                    std::set<std::string> constants) {
  return {.graph = str("symbols n, m graph g(%a: ", a, "[n, m, 96], %b: ", b, "[96, 72]", rest),
          .sizes = {{{"n", 2}, {"m", 35}}},
          .constants = std::move(constants),
          .ranges = {{"a", rangeOf(a)}, {"b", rangeOf(b)}, {"z", rangeOf(a)}},
          .tolerance = 0};
}

TEST(CudaGemmInt8, AllPairsOfTypes) {
  for (const char* a : {"u8", "i8"})
    for (const char* b : {"u8", "i8"})
      expectKernelsMatch(product(a, b, ") { %y = MatMulInteger(%a, %b) return %y }", {"b"}));
}

TEST(CudaGemmInt8, ZeroPointsAndBytesAgain) {
  for (const bool isConstant : {false, true}) {
    std::set<std::string> constants{"b", "s"};
    if (isConstant) constants.insert("z");
    expectKernelsMatch(product("u8", "i8",
                               str(", %z: u8[], %s: f32[72]) { %y = MatMulInteger(%a, %b, %z) "
                                   "epilogue(%s) ",
                                   kToBytes, " return %y }"),
                               constants));
  }
}

TEST(CudaGemmInt8, WeightsWithZeroPoints) {
  // All of them 128: bytes with a sign. Others are wider, and left to the plain kernel.
  HarnessCase same = product("i8", "u8",
                             ", %z: i8[], %w: u8[72]) { %y = MatMulInteger(%a, %b, %z, %w) "
                             "return %y }",
                             {"b", "w"});
  same.values["w"] = {128};
  same.only = "cuda/gemm_mma";
  expectKernelsMatch(same);
  HarnessCase mixed = same;
  mixed.values["w"] = {0, 255, 7};
  mixed.only = "";
  expectKernelsMatch(mixed);
  EXPECT_THAT(refusalsOf("graph g(%a: u8[4, 16], %z: u8[]) { %b: u8[16, 1] = constant [0, 0, 0, 0, "
                         "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255] %w: u8[] = constant [100] "
                         "%y = MatMulInteger(%a, %b, %z, %w) return %y }"),
              ::testing::HasSubstr("cuda/gemm_mma: needs weights that are bytes when"));
}

TEST(CudaGemmInt8, ActivationsInBatchesWithAnyZeroPoints) {
  expectKernelsMatch({.graph = "symbols n, t graph g(%a: i8[n, 2, t, 33], %b: u8[n, 1, 33, 5], "
                               "%z: i8[t, 1], %w: u8[5]) { %y = MatMulInteger(%a, %b, %z, %w) "
                               "return %y }",
                      .sizes = {{{"n", 1}, {"t", 3}}, {{"n", 2}, {"t", 20}}},
                      .ranges = {{"a", rangeOf("i8")}, {"b", rangeOf("u8")}},
                      .tolerance = 0});
}

// x, weights, zero points and scales of a convolution with channels last.
HarnessCase convolution(const std::string& x, const std::string& image, const std::string& weights,
                        const std::string& attributes, bool hasConstantZero) {
  HarnessCase result{
      .graph = str("symbols n, h graph g(%x: ", x, image, ", %w: i8", weights, ", %z: ", x,
                   "[], %s: f32[", weights.substr(1, weights.find(',') - 1),
                   "]) { %y = ConvInteger(%x, %w, %z) {channels_last = true, ", attributes,
                   "} epilogue(%s) ", kToBytes, " return %y }"),
      .sizes = {{{"n", 2}, {"h", 6}}},
      .constants = {"w", "s"},
      .ranges = {{"x", rangeOf(x)}, {"w", rangeOf("i8")}, {"s", {0, 1e-3}}},
      .values = {{"z", {x == "u8" ? 131.0 : -7.0}}},
      .tolerance = 0};
  if (hasConstantZero) result.constants.insert("z");
  return result;
}

TEST(CudaGemmInt8, Convolutions) {
  const char* padded =
      "strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]";
  for (const bool isConstant : {true, false}) {
    for (const char* type : {"u8", "i8"}) {
      expectKernelsMatch(convolution(type, "[n, h, 7, 32]", "[72, 32, 3, 3]", padded, isConstant));
      expectKernelsMatch(convolution(type, "[n, h, 7, 24]", "[33, 24, 3, 3]", padded, isConstant));
    }
    for (const char* image : {"[n, h, 7, 3]", "[n, h, 25, 3]"})
      expectKernelsMatch(convolution(
          "u8", image, "[30, 3, 5, 7]",
          "strides = [2, 2], dilations = [1, 1], pads_begin = [2, 3], pads_end = [2, 3]",
          isConstant));
  }
  expectKernelsMatch(
      convolution("i8", "[n, h, 7, 40]", "[50, 20, 2, 2]",
                  "strides = [2, 1], dilations = [2, 3], pads_begin = [1, -1], pads_end = [0, 2], "
                  "groups = 2",
                  true));
  expectKernelsMatch(convolution("u8", "[n, h, 256]", "[33, 256, 3]",
                                 "strides = [1], dilations = [1], pads_begin = [1], pads_end = [0]",
                                 true));
}

TEST(CudaGemmInt8, ConvolutionsOfFewChannels) {
  const auto expectStem = [](HarnessCase testCase) {
    testCase.sizes = {{{"n", 2}, {"h", 19}}, {{"n", 1}, {"h", 38}}};
    testCase.only = "cuda/conv_stem";
    expectKernelsMatch(testCase);
  };
  const auto attributes = [](int strideY, int strideX, int pad) {
    return str("strides = [", strideY, ", ", strideX, "], dilations = [1, 1], pads_begin = [", pad,
               ", ", pad, "], pads_end = [", pad, ", ", pad, "]");
  };
  for (const bool isConstant : {true, false})
    expectStem(
        convolution("u8", "[n, h, 37, 3]", "[64, 3, 7, 7]", attributes(2, 2, 3), isConstant));
  expectStem(convolution("i8", "[n, 9, h, 3]", "[30, 3, 3, 3]", attributes(1, 1, 1), true));
  expectStem(convolution("u8", "[n, h, h, 1]", "[16, 1, 5, 5]", attributes(1, 1, 2), true));
  expectStem(convolution("u8", "[n, 35, h, 2]", "[72, 2, 6, 6]", attributes(2, 1, 2), false));
  expectStem(convolution("i8", "[n, h, 71, 4]", "[48, 4, 4, 4]", attributes(4, 4, 0), true));
  expectStem(convolution("u8", "[n, h, 5]", "[20, 5, 3]",
                         "strides = [1], dilations = [1], pads_begin = [1], pads_end = [0]", true));
}

// What quantised networks have behind their products: scales and a bias, bytes, and in a residual
// block these with the bytes of the other branch, which become bytes again.
constexpr char kScaled[] = "add(mul(cast(x0:i32, f32), x1:f32), x2:f32)";
std::string toBytes(const std::string& x, double scale, int zero) {
  return str("cast(min(max(add(round(div(", x, ", ", scale, ":f32)), ", zero,
             ":f32), 0:f32), 255:f32), u8)");
}
std::string joined(int zero) {
  return toBytes(str("relu(add(mul(sub(cast(", toBytes(kScaled, 0.0213, 121),
                     ", f32), 121:f32), 0.0213:f32), mul(sub(cast(x3:u8, f32), ", zero,
                     ":f32), 0.0171:f32)))"),
                 0.0197, 0);
}
// A product of 64 terms and 96 columns, or a convolution of 3x3 pixels.
void expectQuantised(const std::string& epilogue, bool hasResidual, bool isProduct) {
  const char* image = isProduct ? "[n, 200, 64]" : "[n, 9, 7, 64]";
  const char* result = isProduct ? "[n, 200, 96]" : "[n, 9, 7, 96]";
  expectKernelsMatch(
      {.graph = str(
           "symbols n graph g(%x: u8", image, ", %w: i8", isProduct ? "[64, 96]" : "[96, 64, 3, 3]",
           ", %s: f32[96], %b: f32[96]", hasResidual ? str(", %r: u8", result) : "", ") { %y = ",
           isProduct ? "MatMulInteger(%x, %w)"
                     : "ConvInteger(%x, %w) {channels_last = true, strides = [1, 1], "
                       "dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]}",
           " epilogue(%s, %b", hasResidual ? ", %r" : "", ") {", epilogue, "} return %y }"),
       .sizes = {{{"n", 2}}},
       .constants = {"w", "s", "b"},
       .ranges = {{"x", rangeOf("u8")}, {"w", rangeOf("i8")}, {"s", {0, 1e-4}}, {"r", {0, 255}}},
       .tolerance = 0});
}

TEST(CudaGemmInt8, QuantisedResults) {
  for (const bool isProduct : {true, false})
    for (const int zero : {0, 117})
      expectQuantised(toBytes(kScaled, 0.0213, zero), false, isProduct);
}

TEST(CudaGemmInt8, QuantisedResidualBlocks) {
  for (const bool isProduct : {true, false})
    for (const int zero : {0, 117}) expectQuantised(joined(zero), true, isProduct);
}

TEST(CudaGemmInt8, Depthwise) {
  const auto depthwise = [](const char* type, int channels, int kernel, int stride) {
    const int pad = kernel / 2;
    HarnessCase result = convolution(
        type, str("[n, h, 7, ", channels, "]"),
        str("[", channels, ", 1, ", kernel, ", ", kernel, "]"),
        str("strides = [", stride, ", ", stride, "], dilations = [1, 1], pads_begin = [", pad, ", ",
            pad, "], pads_end = [", pad, ", ", pad, "], groups = ", channels),
        channels % 16 == 0);
    result.only = "cuda/conv_depthwise";
    expectKernelsMatch(result);
  };
  depthwise("u8", 48, 3, 1);
  depthwise("i8", 24, 5, 2);
  depthwise("u8", 7, 3, 2);
}

TEST(CudaGemmInt8, ConvolutionsWithZeroPointsOfWeights) {
  for (const double zero : {128.0, 3.0})
    expectKernelsMatch(
        {.graph = "graph g(%x: u8[1, 6, 7, 16], %w: u8[20, 16, 3, 3], %z: u8[], %v: u8[20, 1, 1, "
                  "1]) { %y = ConvInteger(%x, %w, %z, %v) {channels_last = true, strides = [1, 1], "
                  "dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} return %y }",
         .constants = {"w", "v"},
         .ranges = {{"x", {0, 255}}, {"w", {0, 255}}},
         .values = {{"v", {zero}}},
         .tolerance = 0});
}

}  // namespace
}  // namespace camshaft::cuda
