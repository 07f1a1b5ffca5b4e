#include <gtest/gtest.h>

#include <cmath>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

TEST(CudaConv, EachTypeInBothLayouts) {
  for (const char* type : {"f32", "f16", "bf16", "f64", "i8", "i32"})
    for (bool last : {false, true})
      expectKernelsMatch(
          {.graph = str("symbols n graph g(%x: ", type, last ? "[n, 7, 6, 6]" : "[n, 6, 7, 6]",
                        ", %w: ", type,
                        "[8, 3, 3, 2]) { %y = Conv(%x, %w) {strides = [2, 1], "
                        "dilations = [1, 2], pads_begin = [1, -1], pads_end = [0, 2], groups = 2",
                        last ? ", channels_last = true" : "", "} return %y }"),
           .sizes = {{{"n", 2}}, {{"n", 1}}},
           .constants = {"w"},
           .ranges = {{"w", {-2, 2}}}});
}

TEST(CudaConv, OneAndThreeDimensionsWithABiasAndAnEpilogue) {
  expectKernelsMatch(
      "graph g(%x: f32[2, 5, 19], %w: f32[7, 5, 4], %b: f32[7], %r: f32[2, 7, 10]) { %y = "
      "Conv(%x, %w, %b) {strides = [2], dilations = [1], pads_begin = [1], pads_end = [2]} "
      "epilogue(%r) {relu(add(x0:f32, x1:f32))} return %y }");
  expectKernelsMatch(
      {.graph =
           "graph g(%x: f16[1, 5, 6, 4, 8], %w: f16[12, 8, 2, 3, 2], %b: f16[12], %s: f16[12]) { "
           "%y = Conv(%x, %w, %b) {strides = [1, 2, 1], dilations = [2, 1, 1], pads_begin = [1, 1, "
           "0], pads_end = [0, 1, 1], channels_last = true} epilogue(%s) {mul(x0:f16, x1:f16)} "
           "return %y }",
       .constants = {"w", "b"}});
}

TEST(CudaConv, Transposed) {
  for (const char* type : {"f32", "f16"})
    for (bool last : {false, true})
      for (const char* constant : {"w", "b"})
        expectKernelsMatch(
            {.graph =
                 str("symbols n graph g(%x: ", type, last ? "[n, 5, 4, 6]" : "[n, 6, 5, 4]",
                     ", %w: ", type, "[6, 4, 3, 2], %b: ", type,
                     "[8]) { %y = ConvTranspose(%x, %w, %b) {strides = [2, 3], dilations = [1, 2], "
                     "pads_begin = [1, 0], pads_end = [0, 1], output_padding = [1, 2], groups = 2",
                     last ? ", channels_last = true" : "", "} epilogue() {relu(x0:", type,
                     ")} return %y }"),
             .sizes = {{{"n", 2}}},
             .constants = {constant}});
}

std::string depthwise(std::string_view type, int channels, int kernel, int stride, int dilation,
                      std::string_view shape) {
  const int pad = kernel / 2 * dilation;
  return str("symbols n, h graph g(%x: ", type, shape, ", %w: ", type, "[", channels, ", 1, ",
             kernel, ", ", kernel, "], %b: ", type, "[", channels,
             "]) { %y = Conv(%x, %w, %b) {strides = [", stride, ", ", stride, "], dilations = [",
             dilation, ", ", dilation, "], pads_begin = [", pad, ", ", pad, "], pads_end = [", pad,
             ", ", pad - stride + 1, "], groups = ", channels,
             ", channels_last = true} epilogue() {hard_swish(x0:", type, ")} return %y }");
}

TEST(CudaConv, Depthwise) {
  const auto expectDepthwise = [](const std::string& graph) {
    expectKernelsMatch({.graph = graph,
                        .sizes = {{{"n", 1}, {"h", 9}}, {{"n", 2}, {"h", 6}}},
                        .constants = {"w", "b"},
                        .only = "cuda/conv_depthwise"});
  };
  expectDepthwise(depthwise("f16", 72, 3, 1, 1, "[n, h, 7, 72]"));
  expectDepthwise(depthwise("f16", 24, 5, 2, 1, "[n, h, h, 24]"));
  expectDepthwise(depthwise("bf16", 20, 7, 1, 1, "[n, h, 8, 20]"));
  expectDepthwise(depthwise("f32", 7, 3, 2, 1, "[n, 9, h, 7]"));
  expectDepthwise(depthwise("f16", 16, 3, 1, 2, "[n, h, 11, 16]"));
}

// x, weights and bias of a convolution with channels last.
std::string implicit(std::string_view type, std::string_view image, std::string_view weights,
                     std::string_view attributes, std::string_view epilogue = {},
                     std::string_view operands = {}) {
  return str("symbols n, h graph g(%x: ", type, image, ", %w: ", type, weights, ", %b: f32[",
             weights.substr(1, weights.find(',') - 1), "]", operands,
             ") { %y = Conv(%x, %w, %b) {channels_last = true, ", attributes, "} ", epilogue,
             " return %y }");
}

TEST(CudaConv, OnTensorCores) {
  const auto expectImplicit = [](const std::string& graph) {
    expectKernelsMatch({.graph = graph,
                        .sizes = {{{"n", 2}, {"h", 6}}},
                        .constants = {"w", "b"},
                        .ranges = {{"w", {-0.3, 0.3}}},
                        .tolerance = 2e-2,
                        .only = "cuda/conv_mma"});
  };
  const char* padded =
      "strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]";
  expectImplicit(implicit("f16", "[n, h, 7, 40]", "[72, 40, 3, 3]", padded,
                          "epilogue(%r, %s) {relu(mul(add(x0:f16, x1:f16), x2:f16))}",
                          ", %r: f16[n, h, 7, 72], %s: f16[n, 1, 1, 72]"));
  for (const char* image : {"[n, h, 7, 3]", "[n, h, 25, 3]"})
    expectImplicit(
        implicit("bf16", image, "[30, 3, 5, 7]",
                 "strides = [2, 2], dilations = [1, 1], pads_begin = [2, 3], pads_end = [2, 3]",
                 "epilogue() {silu(x0:bf16)}"));
  expectImplicit(
      implicit("f16", "[n, h, 7, 64]", "[50, 32, 2, 2]",
               "strides = [2, 1], dilations = [2, 3], pads_begin = [1, -1], pads_end = [0, "
               "2], groups = 2"));
  expectImplicit(implicit("bf16", "[n, h, 128]", "[33, 128, 3]",
                          "strides = [1], dilations = [1], pads_begin = [1], pads_end = [0]"));
}

// Results of several blocks along both dimensions, none of them whole.
TEST(CudaConv, OfFewChannels) {
  const auto expectStem = [](const std::string& graph) {
    expectKernelsMatch({.graph = graph,
                        .sizes = {{{"n", 2}, {"h", 19}}, {{"n", 1}, {"h", 38}}},
                        .constants = {"w", "b"},
                        .ranges = {{"w", {-0.3, 0.3}}},
                        .tolerance = 2e-2,
                        .only = "cuda/conv_stem"});
  };
  expectStem(implicit("f16", "[n, h, 37, 3]", "[64, 3, 7, 7]",
                      "strides = [2, 2], dilations = [1, 1], pads_begin = [3, 3], pads_end = [3, "
                      "3]",
                      "epilogue(%r, %s) {relu(mul(add(x0:f16, x1:f16), x2:f16))}",
                      ", %r: f16[n, 1, 19, 64], %s: f16[n, 1, 1, 64]"));
  expectStem(
      implicit("bf16", "[n, 9, h, 1]", "[30, 1, 5, 5]",
               "strides = [1, 1], dilations = [1, 1], pads_begin = [2, 2], pads_end = [2, 2]"));
  expectStem(
      implicit("f16", "[n, h, h, 2]", "[80, 2, 3, 3]",
               "strides = [2, 1], dilations = [3, 1], pads_begin = [-1, -2], pads_end = [3, 0]",
               "epilogue() {silu(x0:f16)}"));
  expectStem(
      implicit("bf16", "[n, 23, 67, 4]", "[48, 4, 8, 4]",
               "strides = [4, 4], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"));
  expectStem(implicit("f16", "[n, h, 3]", "[33, 3, 5]",
                      "strides = [1], dilations = [1], pads_begin = [1], pads_end = [6]"));
}

// What lies beside a window does not reach its result, not even where it is no number.
TEST(CudaConv, OfFewChannelsThatAreNoNumbers) {
  std::vector<double> values(7 * 22 * 3, 0.5);
  for (size_t i = 0; i < values.size(); i += 22 * 3) values[i + 7 * 3] = INFINITY;
  expectKernelsMatch(
      {.graph = implicit("f16", "[1, 7, 22, 3]", "[16, 3, 7, 7]",
                         "strides = [1, 3], dilations = [1, 1], pads_begin = [0, 0], pads_end = "
                         "[0, 0]"),
       .constants = {"w", "b"},
       .ranges = {{"w", {0.1, 0.3}}},
       .values = {{"x", values}},
       .tolerance = 2e-2,
       .only = "cuda/conv_stem"});
}

}  // namespace
}  // namespace camshaft::cuda
