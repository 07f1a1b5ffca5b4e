#include <gtest/gtest.h>

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

TEST(Resize, SaysWhatItDoesNotDo) {
  EXPECT_EQ(refusalsOf(resize("f32", "[1, 1, 4, 4]",
                              "mode = cubic, sizes = [1, 1, 8, 8], scales = [0, 0, 0, 0]")),
            "cpu/resize: no cubic sampling");
  EXPECT_EQ(
      refusalsOf(resize("f32", "[1, 4, 4, 4]", "sizes = [1, 8, 8, 8], scales = [0, 0, 0, 0]")),
      "cpu/resize: resizes more than two neighbouring dimensions");
}

}  // namespace
}  // namespace camshaft::cpu
