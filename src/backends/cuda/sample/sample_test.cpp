#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"

namespace camshaft::cuda {
namespace {

const Sizes kImages = {{{"n", 1}, {"h", 4}, {"w", 5}}, {{"n", 2}, {"h", 9}, {"w", 3}}};

std::string resize(const std::string& type, const std::string& attributes) {
  return "symbols n, h, w graph g(%x: " + type + "[n, 3, h, w]) { %y = Resize(%x) {" + attributes +
         "} return %y }";
}

TEST(ResizeKernels, Nearest) {
  const std::string twice = "mode = nearest, sizes = [n, 3, 2*h, 2*w], scales = [1, 1, 2, 2], ";
  for (const char* rule :
       {"coordinates = asymmetric, nearest = floor", "nearest = round_prefer_ceil",
        "coordinates = align_corners, nearest = ceil", "coordinates = half_pixel_symmetric"})
    expectKernelsMatch(resize("f16", twice + rule), kImages);
  expectKernelsMatch(resize("u8", "mode = nearest, sizes = [n, 3, 7, 6], scales = [1, 1, 0, 0]"),
                     kImages);
}

TEST(ResizeKernels, ChannelsLast) {
  for (const char* mode : {"nearest, coordinates = asymmetric, nearest = floor", "linear"})
    expectKernelsMatch(
        "symbols n, h, w graph g(%x: f16[n, h, w, 8], %b: f16[8]) { %y = Resize(%x) {mode = " +
            std::string(mode) +
            ", sizes = [n, 2*h, 2*w, 8], scales = [1, 2, 2, 1]} epilogue(%b) {relu(add(x0:f16, "
            "x1:f16))} return %y }",
        kImages);
}

TEST(ResizeKernels, LinearAndCubic) {
  for (const char* coordinates :
       {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"})
    expectKernelsMatch(
        resize("f32", "mode = linear, sizes = [n, 3, 7, 1], scales = [1, 1, 0, 0], coordinates = " +
                          std::string(coordinates)),
        kImages);
  expectKernelsMatch(resize("f32",
                            "mode = cubic, coordinates = align_corners, sizes = [n, 3, 2*h, w], "
                            "scales = [1, 1, 2, 1]"),
                     kImages);
  expectKernelsMatch(
      resize("f64",
             "mode = cubic, exclude_outside = true, sizes = [n, 3, 7, 8], scales = [1, 1, 0, 0]"),
      kImages);
  expectKernelsMatch(resize("u8", "mode = linear, sizes = [n, 3, 2*h, 2*w], scales = [1, 1, 2, 2]"),
                     kImages);
}

TEST(ResizeKernels, AntialiasedAndCropped) {
  for (const char* mode : {"linear", "cubic, exclude_outside = true"})
    expectKernelsMatch(
        resize("f32", "antialias = true, sizes = [n, 3, 2, 2], scales = [1, 1, 0, 0], mode = " +
                          std::string(mode)),
        kImages);
  for (const char* mode : {"nearest", "linear"})
    expectKernelsMatch(resize("f32",
                              "coordinates = crop_and_resize, extrapolation = 3.5, roi = [0, 0, "
                              "-0.2, 0.1, 1, 1, 1.2, 0.9], "
                              "sizes = [n, 3, 5, 4], scales = [1, 1, 0, 0], mode = " +
                                  std::string(mode)),
                       kImages);
}

TEST(GridSampleKernels, EveryModeAndPadding) {
  for (const std::string mode : {"linear", "nearest", "cubic"})
    for (const std::string padding : {"zeros", "border", "reflection"})
      expectKernelsMatch(
          HarnessCase{.graph = "symbols n, h graph g(%x: f32[n, 20, h, 5], %a: f32[n, 3, 4, 2]) "
                               "{ %y = GridSample(%x, %a) {mode = " +
                               mode + ", padding = " + padding + ", align_corners = " +
                               (padding == "border" ? "true" : "false") + "} return %y }",
                      .sizes = {{{"n", 2}, {"h", 7}}, {{"n", 1}, {"h", 1}}},
                      .ranges = {{"a", {-1.7, 1.7}}}});
}

TEST(GridSampleKernels, VolumesAndEpilogue) {
  expectKernelsMatch(HarnessCase{
      .graph = "graph g(%x: f16[1, 3, 4, 3, 5], %a: f16[1, 2, 3, 2, 3], %b: f16[3, 1, 1, 1]) {"
               "  %y = GridSample(%x, %a) epilogue(%b) {mul(x0:f16, x1:f16)} return %y }",
      .ranges = {{"a", {-1.2, 1.2}}}});
}

}  // namespace
}  // namespace camshaft::cuda
