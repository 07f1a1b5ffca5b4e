#include <gtest/gtest.h>

#include <cmath>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

const Sizes kSizes = {{{"n", 1}, {"h", 5}}, {{"n", 2}, {"h", 12}}};

std::string poolOf(std::string_view type, bool channelsLast, std::string_view attributes,
                   std::string_view results = "%y") {
  return str("symbols n, h graph g(%x: ", type, channelsLast ? "[n, h, 9, 8]" : "[n, 8, h, 9]",
             ") { ", results, " = Pool(%x) {kernel = [3, 2], strides = [2, 1], ", attributes,
             channelsLast ? ", channels_last = true" : "", "} return ", results, " }");
}

TEST(CudaPool, EachKindInBothLayouts) {
  const char* padded = "dilations = [1, 1], pads_begin = [1, 0], pads_end = [1, 1]";
  for (bool channelsLast : {false, true})
    for (const char* kind : {"max", "average", "average, count_include_pad = true", "lp",
                             "lp, p = 1", "lp, p = 3", "average, ceil_mode = true"})
      expectKernelsMatch(poolOf("f32", channelsLast, str("kind = ", kind, ", ", padded)), kSizes);
}

TEST(CudaPool, EachTypeAndDilation) {
  const char* dilated = "dilations = [2, 3], pads_begin = [1, 1], pads_end = [0, 1]";
  for (bool channelsLast : {false, true}) {
    for (const char* type : {"f16", "bf16", "f64", "i8", "i32"})
      expectKernelsMatch(poolOf(type, channelsLast, str("kind = max, ", dilated)), kSizes);
    expectKernelsMatch(poolOf("f16", channelsLast, str("kind = average, ", dilated)), kSizes);
  }
}

TEST(CudaPool, Indices) {
  const char* padded = "kind = max, dilations = [1, 2], pads_begin = [1, 0], pads_end = [1, 1]";
  for (bool channelsLast : {false, true})
    for (const char* order : {"", ", column_major_indices = true"})
      expectKernelsMatch({.graph = poolOf("f32", channelsLast, str(padded, order), "%y, %i"),
                          .sizes = kSizes,
                          .values = {{"x", {1, NAN, 3, 3, -2, NAN, NAN, 0, 5, 1, 2}}}});
}

TEST(CudaPool, OneAndThreeDimensionsWithAnEpilogue) {
  expectKernelsMatch(
      "graph g(%x: f16[2, 20, 16], %b: f16[16]) { %y = Pool(%x) {kind = max, kernel = [3], strides "
      "= "
      "[2], dilations = [1], pads_begin = [1], pads_end = [1], channels_last = true} epilogue(%b) "
      "{relu(add(x0:f16, x1:f16))} return %y }");
  expectKernelsMatch(
      "graph g(%x: f32[2, 3, 5, 6, 7], %b: f32[3, 1, 1, 1]) { %y = Pool(%x) {kind = average, "
      "kernel "
      "= [2, 3, 2], strides = [1, 2, 2], dilations = [1, 1, 1], pads_begin = [0, 1, 0], pads_end = "
      "[0, 1, 1]} epilogue(%b) {mul(x0:f32, x1:f32)} return %y }");
}

}  // namespace
}  // namespace camshaft::cuda
