#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

const std::vector<std::map<std::string, int64_t>> kSizes = {{{"n", 1}, {"h", 5}, {"w", 7}},
                                                            {{"n", 2}, {"h", 13}, {"w", 9}},
                                                            {{"n", 1}, {"h", 30}, {"w", 40}}};

TEST(Pool, TwoDimensionsInBothLayouts) {
  for (const char* kind :
       {"kind = max", "kind = average", "kind = average, count_include_pad = true"})
    for (const char* windows : {"kernel = [2, 2], strides = [2, 2], dilations = [1, 1], pads_begin "
                                "= [0, 0], pads_end = [0, 0]",
                                "kernel = [3, 3], strides = [2, 2], dilations = [1, 1], pads_begin "
                                "= [1, 1], pads_end = [1, 1]",
                                "kernel = [3, 3], strides = [2, 2], dilations = [1, 1], pads_begin "
                                "= [1, 1], pads_end = [1, 1], ceil_mode = true",
                                "kernel = [3, 2], strides = [1, 3], dilations = [2, 1], pads_begin "
                                "= [2, 0], pads_end = [1, 1]",
                                "kernel = [5, 5], strides = [1, 1], dilations = [1, 1], pads_begin "
                                "= [2, 2], pads_end = [2, 2]"}) {
      const std::string attributes = std::string("{") + kind + ", " + windows;
      expectKernelsMatch("symbols n, h, w graph g(%x: f32[n, 3, h, w]) { %y = Pool(%x) " +
                             attributes + "} return %y }",
                         kSizes);
      for (const char* channels : {"3", "16", "50"})
        expectKernelsMatch(std::string("symbols n, h, w graph g(%x: f32[n, h, w, ") + channels +
                               "]) { %y = Pool(%x) " + attributes +
                               ", channels_last = true} return %y }",
                           kSizes);
    }
}

TEST(Pool, OneDimension) {
  for (const char* kind : {"max", "average"})
    expectKernelsMatch(
        std::string("symbols n, h, w graph g(%x: f32[n, h, w]) { %y = Pool(%x) {kind = ") + kind +
            ", kernel = [3], strides = [2], dilations = [1], pads_begin = [1], pads_end = [0]} "
            "return %y }",
        kSizes);
}

TEST(Pool, SaysWhatItDoesNotDo) {
  EXPECT_EQ(refusalsOf(
                "graph g(%x: f32[1, 1, 4, 4, 4]) { %y = Pool(%x) {kernel = [2, 2, 2], strides = "
                "[1, 1, 1], "
                "dilations = [1, 1, 1], pads_begin = [0, 0, 0], pads_end = [0, 0, 0]} return %y }"),
            "cpu/pool_f32: only one or two spatial dimensions; cpu/pool_max_bytes: only for bytes");
}

TEST(Pool, MaximaOfBytes) {
  for (const char* type : {"u8", "i8"})
    expectKernelsMatch(
        {.graph = std::string("symbols n, h, w graph g(%x: ") + type +
                  "[n, h, w, 37]) { %y = Pool(%x) {kernel = [3, 2], strides = [2, 1], dilations = "
                  "[1, 1], pads_begin = [1, 1], pads_end = [1, 0], channels_last = true} return %y "
                  "}",
         .sizes = kSizes,
         .ranges = {{"x", {-128, 127}}}});
}

}  // namespace
}  // namespace camshaft::cpu
