#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

const std::vector<std::map<std::string, int64_t>> kSizes = {{{"n", 1}, {"h", 1}, {"w", 2}},
                                                            {{"n", 2}, {"h", 7}, {"w", 5}},
                                                            {{"n", 1}, {"h", 20}, {"w", 33}}};

std::string resize(const std::string& type, const std::string& shape,
                   const std::string& attributes) {
  return "symbols n, h, w graph g(%x: " + type + shape + ") { %y = Resize(%x) {" + attributes +
         "} return %y }";
}

TEST(Resize, EveryCoordinateRule) {
  for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                  "half_pixel_symmetric"}) {
    const std::string rule = std::string("coordinates = ") + coordinates;
    for (const char* mode : {"mode = nearest, ", "mode = nearest, nearest = floor, ",
                             "mode = nearest, nearest = ceil, ",
                             "mode = nearest, nearest = round_prefer_ceil, ", "mode = linear, "}) {
      expectKernelsMatch(resize("f32", "[n, 3, h, w]",
                                mode + rule + ", sizes = [n, 3, 2*h, 2*w], scales = [1, 1, 2, 2]"),
                         kSizes);
      expectKernelsMatch(resize("f32", "[n, h, w, 19]",
                                mode + rule + ", sizes = [n, 11, 17, 19], scales = [0, 0, 0, 0]"),
                         kSizes);
      expectKernelsMatch(
          resize("f32", "[n, h, w]", mode + rule + ", sizes = [n, h, 3*w], scales = [1, 1, 3]"),
          kSizes);
    }
  }
}

TEST(Resize, NearestOfAnyType) {
  for (const char* type : {"f16", "u8", "i64", "bool"})
    expectKernelsMatch(
        resize(type, "[n, h, w, 3]", "sizes = [n, 2*h, 2*w, 3], scales = [1, 2, 2, 1]"), kSizes);
}

TEST(Resize, LinearOfBytes) {
  for (const char* type : {"u8", "i8"})
    for (const char* shape : {"[n, h, w, 19]", "[n, h, w, 1]"}) {
      for (const std::string& sizes :
           {"sizes = [n, 2*h, 2*w" + std::string(shape).substr(8) + ", scales = [1, 2, 2, 1]",
            "sizes = [n, h, 4*w" + std::string(shape).substr(8) + ", scales = [1, 1, 4, 1]"})
        expectKernelsMatch({.graph = resize(type, shape, "mode = linear, " + sizes),
                            .sizes = kSizes,
                            .ranges = {{"x", {type[0] == 'u' ? 0 : -128, 127}}}});
    }
}

TEST(Resize, CubicAndAntialiasedOfEveryCoordinateRule) {
  const std::vector<std::string> curves = {
      "mode = cubic, ", "mode = cubic, cubic_coefficient = -0.5, exclude_outside = true, ",
      "mode = cubic, antialias = true, ", "mode = linear, antialias = true, ",
      "mode = linear, antialias = true, exclude_outside = true, "};
  for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                  "half_pixel_symmetric"}) {
    const std::string rule = std::string("coordinates = ") + coordinates;
    for (const std::string& curve : curves) {
      expectKernelsMatch(resize("f32", "[n, 3, h, w]",
                                curve + rule + ", sizes = [n, 3, 2*h, 3*w], scales = [1, 1, 2, 3]"),
                         kSizes);
      expectKernelsMatch(resize("f32", "[n, h, w, 19]",
                                curve + rule + ", sizes = [n, 5, 3, 19], scales = [0, 0, 0, 0]"),
                         kSizes);
    }
    for (const char* scale : {"0.5", "0.3"})
      expectKernelsMatch(
          resize("f32", "[2, 20, 60]",
                 "mode = cubic, antialias = true, " + rule +
                     (scale[2] == '5' ? ", sizes = [2, 10, 30]" : ", sizes = [2, 6, 18]") +
                     ", scales = [1, " + scale + ", " + scale + "]"),
          {{}});
  }
}

TEST(Resize, AnyDimensions) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    const std::string rule = std::string("mode = ") + mode + ", ";
    expectKernelsMatch(resize("f32", "[n, 2, h, 3, w]",
                              rule + "sizes = [n, 2, 2*h, 5, 2*w], scales = [1, 1, 2, 0, 2]"),
                       kSizes);
    expectKernelsMatch(
        resize("f32", "[n, h, 2, w]", rule + "sizes = [3, h, 2, 7], scales = [0, 1, 1, 0]"),
        kSizes);
    expectKernelsMatch(resize("f32", "[h, w]", rule + "sizes = [9, w], scales = [0, 1]"), kSizes);
  }
}

TEST(Resize, RegionsThatAreCropped) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* roi : {"[0, 0, 0.2, 0.1, 1, 1, 0.7, 0.9]", "[0, 0, -0.4, 0.5, 1, 1, 1.6, 1.5]",
                            "[0, 0, 0, 0.9, 1, 1, 1, 0.3]"})
      expectKernelsMatch(resize("f32", "[n, 3, h, w]",
                                std::string("mode = ") + mode +
                                    ", coordinates = crop_and_resize, extrapolation = 7.5, roi = " +
                                    roi + ", sizes = [n, 3, 13, 21], scales = [0, 0, 0, 0]"),
                         kSizes);
}

TEST(Resize, WhatHasNoWeightMayBeInfinite) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const char* curve : {"mode = cubic", "mode = linear, antialias = true"})
    expectKernelsMatch(
        {.graph = resize("f32", "[1, 4, 5]",
                         std::string(curve) + ", coordinates = align_corners, sizes = [1, 7, 33], "
                                              "scales = [1, 0, 0]"),
         .ranges = {},
         .values = {{"x", {1, 2, inf, 3, 4, 5, 6, 7, -inf, 8, 9}}}});
}

TEST(Resize, SaysWhatItDoesNotDo) {
  EXPECT_EQ(refusalsOf(resize("f16", "[1, 1, 4, 4]",
                              "mode = cubic, sizes = [1, 1, 8, 8], scales = [0, 0, 0, 0]")),
            "cpu/resize: no cubic sampling; cpu/resample_f32: only f32; cpu/grid_sample_f32: only "
            "for GridSample");
  EXPECT_EQ(
      refusalsOf(resize("u8", "[1, 4, 4, 4]", "sizes = [1, 8, 8, 8], scales = [0, 0, 0, 0]")),
      "cpu/resize: resizes more than two neighbouring dimensions; cpu/resample_f32: only f32; "
      "cpu/grid_sample_f32: only for GridSample");
}

std::string gridSample(const std::string& x, const std::string& grid,
                       const std::string& attributes) {
  return "symbols n, h, w graph g(%x: f32" + x + ", %grid: f32" + grid +
         ") { %y = GridSample(%x, %grid) {" + attributes + "} return %y }";
}

std::vector<std::string> gridRules() {
  std::vector<std::string> rules;
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const char* align : {"false", "true"})
        rules.push_back(str("mode = ", mode, ", padding = ", padding, ", align_corners = ", align));
  return rules;
}

TEST(GridSample, EveryRuleInOneToThreeDimensions) {
  for (const std::string& rules : gridRules()) {
    expectKernelsMatch({.graph = gridSample("[n, 3, h, w]", "[n, 5, 29, 2]", rules),
                        .sizes = kSizes,
                        .ranges = {{"grid", {-2.5, 2.5}}}});
    expectKernelsMatch({.graph = gridSample("[n, 2, w]", "[n, h, 1]", rules),
                        .sizes = kSizes,
                        .ranges = {{"grid", {-1.2, 1.2}}}});
    expectKernelsMatch({.graph = gridSample("[n, 2, 3, h, w]", "[n, 4, 1, 17, 3]", rules),
                        .sizes = kSizes,
                        .ranges = {{"grid", {-1.2, 1.2}}}});
  }
}

TEST(GridSample, CoordinatesAndElementsThatAreNoNumbers) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const std::string& rules : gridRules())
    expectKernelsMatch(
        {.graph = gridSample("[1, 2, 4, 3]", "[1, 3, 7, 2]", rules),
         .ranges = {},
         .values = {{"x", {inf, 1, 2, nan, 3, 4, -inf, 5, 6}},
                    {"grid", {nan, 0, inf, 0.3, -inf, inf, 1e30, -1e30, 0.5, -1, 1, 0.1, -3}}}});
}

TEST(GridSample, Empty) {
  const std::string rules = "mode = linear";
  expectKernelsMatch(gridSample("[n, 3, 4, 4]", "[n, h, w, 2]", rules),
                     {{{"n", 0}, {"h", 2}, {"w", 2}}, {{"n", 1}, {"h", 0}, {"w", 3}}});
  expectKernelsMatch(gridSample("[1, 0, 4, 4]", "[1, 2, 2, 2]", rules));
}

TEST(GridSample, SaysWhatItDoesNotDo) {
  EXPECT_EQ(refusalsOf(gridSample("[1, 1, 2, 2, 2, 2]", "[1, 1, 1, 1, 1, 4]", "mode = linear")),
            "cpu/resize: only for Resize; cpu/resample_f32: only for Resize; cpu/grid_sample_f32: "
            "more than three spatial dimensions");
}

}  // namespace
}  // namespace camshaft::cpu
