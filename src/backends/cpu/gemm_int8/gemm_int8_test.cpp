#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

using ::testing::HasSubstr;

const std::map<std::string, std::pair<double, double>> kBytes = {
    {"x", {0, 255}}, {"w", {-128, 127}}, {"xz", {0, 255}}, {"z", {-128, 127}}};

TEST(GemmInt8, MatchesWithZeroPoints) {
  expectKernelsMatch(
      {.graph = "symbols n graph g(%x: u8[2, n, 70], %w: i8[70, 37], %xz: u8[], %z: i8[37]) { "
                "%y = MatMulInteger(%x, %w, %xz, %z) return %y }",
       .sizes = {{{"n", 1}}, {{"n", 3}}, {{"n", 33}}, {{"n", 0}}},
       .constants = {"w", "z"},
       .ranges = kBytes});
  expectKernelsMatch({.graph = "symbols n graph g(%x: i8[n, 130], %w: u8[130, 64]) { "
                               "%y = MatMulInteger(%x, %w) return %y }",
                      .sizes = {{{"n", 1}}, {{"n", 40}}},
                      .constants = {"w"},
                      .ranges = {{"x", {-128, 127}}, {"w", {0, 255}}}});
}

TEST(GemmInt8, MultipliesTwoActivations) {
  for (const std::string second : {"u8", "i8"})
    for (const std::string zero : {"", ", %xz, %wz"})
      expectKernelsMatch(
          {.graph = "symbols n, m, k graph g(%x: u8[n, 3, m, k], %w: " + second +
                    "[n, 3, k, 37], %xz: u8[], %wz: " + second + "[]) { %y = MatMulInteger(%x, %w" +
                    zero + ") return %y }",
           .sizes = {{{"n", 1}, {"m", 1}, {"k", 70}},
                     {{"n", 2}, {"m", 19}, {"k", 8}},
                     {{"n", 1}, {"m", 0}, {"k", 3}},
                     {{"n", 1}, {"m", 33}, {"k", 0}}},
           .constants = {"wz"},
           .ranges = {{"x", {0, 255}}, {"w", {-50, 127}}, {"xz", {0, 255}}, {"wz", {1, 100}}}});
  // One matrix for all, of either operand, and results that are bytes.
  for (const std::string operands :
       {"%x: i8[2, n, 20], %w: i8[20, 70]", "%x: i8[5, 20], %w: i8[n, 20, 70]"})
    expectKernelsMatch(
        {.graph = "symbols n graph g(" + operands +
                  ", %b: f32[70]) { %y = MatMulInteger(%x, %w) epilogue(%b) "
                  "{cast(min(max(round(div(add(mul(cast(x0:i32, f32), 0.002:f32), x1:f32), "
                  "0.3:f32)), -128:f32), 127:f32), i8)} return %y }",
         .sizes = {{{"n", 1}}, {{"n", 9}}},
         .constants = {"b"},
         .ranges = {{"x", {-128, 127}}, {"w", {-128, 127}}}});
}

TEST(GemmInt8, ScalesAndFuses) {
  expectKernelsMatch(
      {.graph =
           "symbols n graph g(%x: u8[n, 20], %w: i8[20, 35], %xz: u8[], %s: f32[], %c: f32[35], "
           "%b: f32[35], %r: f32[n, 35]) { %y = MatMulInteger(%x, %w, %xz) "
           "epilogue(%s, %c, %b, %r) {gelu(add(add(mul(cast(x0:i32, f32), mul(mul(x1:f32, "
           "x2:f32), 0.01:f32)), x3:f32), x4:f32))} return %y }",
       .sizes = {{{"n", 1}}, {{"n", 18}}, {{"n", 50}}},
       .constants = {"w", "c", "b"},
       .ranges = kBytes});
  expectKernelsMatch(
      {.graph = "symbols n graph g(%x: u8[n, 20], %w: i8[20, 35], %s: f32[], %r: f32[n, 35]) { "
                "%y = MatMulInteger(%x, %w) epilogue(%s, %r) {mul(tanh(mul(cast(x0:i32, f32), "
                "mul(x1:f32, 0.001:f32))), x2:f32)} return %y }",
       .sizes = {{{"n", 1}}, {{"n", 50}}},
       .constants = {"w"},
       .ranges = kBytes});
}

TEST(GemmInt8, Requantises) {
  for (const std::string type : {"u8", "i8"})
    for (const std::string step :
         {"div(relu(add(mul(cast(x0:i32, f32), 0.004:f32), x1:f32)), 0.3:f32)",
          "add(mul(cast(x0:i32, f32), 0.002:f32), x1:f32)",
          "add(mul(cast(x0:i32, f32), 3000000000:f32), x1:f32)",  // beyond any integer
          "mul(tanh(gelu(mul(cast(x0:i32, f32), 0.002:f32))), x1:f32)"})
      expectKernelsMatch(
          {.graph = "symbols n graph g(%x: u8[n, 20], %w: i8[20, 35], %b: f32[35]) { "
                    "%y = MatMulInteger(%x, %w) epilogue(%b) {cast(min(max(add(round(" +
                    step + "), 3:f32), -100:f32), 120:f32), " + type + ")} return %y }",
           .sizes = {{{"n", 1}}, {{"n", 50}}},
           .constants = {"w", "b"},
           .ranges = kBytes});
}

TEST(GemmInt8, Convolves) {
  for (const std::string attrs :
       {"strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]",
        "strides = [2, 1], dilations = [2, 1], pads_begin = [0, 4], pads_end = [1, 2]",
        "strides = [1, 3], dilations = [1, 2], pads_begin = [2, 3], pads_end = [0, 0]",
        "strides = [1, 1], dilations = [1, 1], pads_begin = [-1, -2], pads_end = [0, -1]"})
    expectKernelsMatch(
        {.graph = "symbols n, h graph g(%x: u8[n, h, 9, 5], %w: i8[35, 5, 3, 3], %xz: u8[], %z: "
                  "i8[35, 1, 1, 1]) { %y = ConvInteger(%x, %w, %xz, %z) {" +
                  attrs + ", channels_last = true} return %y }",
         .sizes = {{{"n", 1}, {"h", 7}}, {{"n", 2}, {"h", 12}}},
         .constants = {"w", "z"},
         .ranges = kBytes});
  expectKernelsMatch({.graph = "symbols n graph g(%x: i8[2, n, 70], %w: u8[8, 70, 3], %c: f32[8]) "
                               "{ %y = ConvInteger(%x, %w) "
                               "{strides = [1], dilations = [1], pads_begin = [1], pads_end = [1], "
                               "channels_last = true} "
                               "epilogue(%c) {relu(mul(cast(x0:i32, f32), x1:f32))} return %y }",
                      .sizes = {{{"n", 1}}, {{"n", 29}}},
                      .constants = {"w", "c"},
                      .ranges = {{"x", {-128, 127}}, {"w", {0, 255}}}});
}

// Rows and taps that are whole steps of 64 bytes, which tiles read in place or vectors pack; more
// rows than columns and fewer.
TEST(GemmInt8, MultipliesWholeSteps) {
  for (const std::string type : {"u8", "i8"}) {
    const std::pair<double, double> bytes =
        type == "u8" ? std::pair{0., 255.} : std::pair{-128., 127.};
    expectKernelsMatch({.graph = "symbols n graph g(%x: " + type +
                                 "[n, 192], %w: i8[192, 70], %xz: " + type +
                                 "[]) { %y = MatMulInteger(%x, %w, %xz) return %y }",
                        .sizes = {{{"n", 1}}, {{"n", 16}}, {{"n", 33}}, {{"n", 49}}, {{"n", 300}}},
                        .constants = {"w"},
                        .ranges = {{"x", bytes}, {"w", {-128, 127}}, {"xz", bytes}}});
    for (const std::string kernel : {"1", "3"})
      for (const std::string stride : {"1", "2"})
        expectKernelsMatch(
            {.graph = "symbols n, h graph g(%x: " + type + "[n, h, 21, 64], %w: i8[40, 64, " +
                      kernel + ", " + kernel + "], %xz: " + type +
                      "[]) { %y = ConvInteger(%x, %w, %xz) {strides = [" + stride + ", " + stride +
                      "], dilations = [1, 1], pads_begin = [" + (kernel == "1" ? "0, 0" : "1, 1") +
                      "], pads_end = [" + (kernel == "1" ? "0, 0" : "1, 1") +
                      "], channels_last = true} return %y }",
             .sizes = {{{"n", 1}, {"h", 3}}, {{"n", 2}, {"h", 7}}},
             .constants = {"w"},
             .ranges = {{"x", bytes}, {"w", {-128, 127}}, {"xz", bytes}}});
    for (const std::string attrs :
         {"strides = [1, 1], dilations = [2, 3], pads_begin = [2, 0], pads_end = [1, 4]",
          "strides = [3, 2], dilations = [1, 2], pads_begin = [0, 5], pads_end = [3, 0]",
          "strides = [1, 1], dilations = [1, 1], pads_begin = [-1, -2], pads_end = [0, -1]"})
      expectKernelsMatch({.graph = "symbols h graph g(%x: " + type +
                                   "[2, h, 13, 128], %w: i8[300, 128, 3, 2], " + "%xz: " + type +
                                   "[]) { %y = ConvInteger(%x, %w, %xz) {" + attrs +
                                   ", channels_last = true} return %y }",
                          .sizes = {{{"h", 6}}, {{"h", 17}}},
                          .constants = {"w"},
                          .ranges = {{"x", bytes}, {"w", {-128, 127}}, {"xz", bytes}}});
  }
}

// Windows whose lines vectors read in place, filled up to quads or not, and such as they cannot.
TEST(GemmInt8, ConvolvesLines) {
  for (const std::string channels : {"1", "2", "3", "4", "7", "24", "65"})
    for (const std::string attrs :
         {"strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]",
          "strides = [2, 2], dilations = [1, 1], pads_begin = [1, 1], pads_end = [0, 1]",
          "strides = [3, 2], dilations = [2, 1], pads_begin = [0, 5], pads_end = [3, 0]",
          "strides = [1, 4], dilations = [1, 1], pads_begin = [-1, -2], pads_end = [0, 7]"})
      expectKernelsMatch(
          {.graph = "symbols n, h graph g(%x: u8[n, h, 23, " + channels + "], %w: i8[70, " +
                    channels + ", 3, 3], %xz: u8[]) { %y = ConvInteger(%x, %w, %xz) {" + attrs +
                    ", channels_last = true} return %y }",
           .sizes = {{{"n", 1}, {"h", 6}}, {{"n", 2}, {"h", 13}}, {{"n", 1}, {"h", 90}}},
           .constants = {"w"},
           .ranges = kBytes});
  for (const std::string stride : {"1", "2"})
    expectKernelsMatch({.graph = "symbols h graph g(%x: u8[2, h, 6], %w: i8[9, 6, 5]) { %y = "
                                 "ConvInteger(%x, %w) {strides = [" +
                                 stride +
                                 "], dilations = [1], pads_begin = [2], pads_end = [1], "
                                 "channels_last = true} return %y }",
                        .sizes = {{{"h", 4}}, {{"h", 61}}},
                        .constants = {"w"},
                        .ranges = {{"x", {0, 255}}, {"w", {-128, 127}}}});
}

// Groups of whole steps, of a few channels, and of one pixel.
TEST(GemmInt8, ConvolvesInGroups) {
  struct Groups {
    std::string channels, weights, groups, kernel;
  };
  for (const auto& [channels, weights, groups, kernel] :
       {Groups{"32", "24, 16, 3, 3", "2", "1"}, Groups{"15", "40, 3, 3, 3", "5", "2"},
        Groups{"24", "21, 8, 1, 1", "3", "1"}})
    expectKernelsMatch(
        {.graph = "symbols n, h graph g(%x: u8[n, h, 9, " + channels + "], %w: i8[" + weights +
                  "], %xz: u8[]) { %y = ConvInteger(%x, %w, %xz) {strides = [1, " + kernel +
                  "], dilations = [" + kernel +
                  ", 1], pads_begin = [1, 0], pads_end = [0, 1], groups = " + groups +
                  ", channels_last = true} epilogue() {mul(cast(x0:i32, f32), 0.01:f32)} "
                  "return %y }",
         .sizes = {{{"n", 1}, {"h", 7}}, {{"n", 2}, {"h", 12}}},
         .constants = {"w"},
         .ranges = kBytes});
}

// Groups whose channels vectors find side by side: of one quad and of many, of filters that do not
// fill a vector, and pixels that do not fill a block.
TEST(GemmInt8, ConvolvesGroupsOfFewChannels) {
  struct Groups {
    std::string channels, weights, groups, attrs;
  };
  const std::string plain = "strides = [1, 1], dilations = [1, 1], ";
  for (const auto& [channels, weights, groups, attrs] :
       {Groups{"12", "12, 4, 3, 3", "3", plain + "pads_begin = [1, 1], pads_end = [1, 1]"},
        Groups{"128", "128, 4, 3, 3", "32", plain + "pads_begin = [1, 1], pads_end = [1, 1]"},
        Groups{"32", "64, 4, 3, 3", "8",
               "strides = [2, 2], dilations = [1, 1], pads_begin = [0, 1], pads_end = [1, 0]"},
        Groups{"72", "72, 24, 1, 1", "3", plain + "pads_begin = [0, 0], pads_end = [0, 0]"},
        Groups{"80", "40, 40, 3, 2", "2",
               "strides = [1, 2], dilations = [2, 3], pads_begin = [2, 3], pads_end = [3, 0]"},
        Groups{"112", "112, 56, 2, 1", "2", plain + "pads_begin = [-1, 0], pads_end = [2, 0]"}})
    for (const std::string type : {"u8", "i8"}) {
      const std::pair<double, double> bytes =
          type == "u8" ? std::pair{0., 255.} : std::pair{-128., 127.};
      expectKernelsMatch({.graph = "symbols n, h graph g(%x: " + type + "[n, h, 9, " + channels +
                                   "], %w: i8[" + weights + "], %xz: " + type +
                                   "[]) { %y = ConvInteger(%x, %w, %xz) {" + attrs +
                                   ", groups = " + groups + ", channels_last = true} return %y }",
                          .sizes = {{{"n", 1}, {"h", 7}}, {{"n", 2}, {"h", 12}}},
                          .constants = {"w"},
                          .ranges = {{"x", bytes}, {"w", {-128, 127}}, {"xz", bytes}}});
    }
}

TEST(GemmInt8, ConvolvesEachChannelByItself) {
  for (const std::string attrs :
       {"strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]",
        "strides = [2, 1], dilations = [2, 1], pads_begin = [0, 4], pads_end = [1, 2]"})
    for (const std::string type : {"u8", "i8"})
      expectKernelsMatch(
          {.graph = "symbols n, h graph g(%x: " + type +
                    "[n, h, 9, 45], %w: i8[45, 1, 3, 3], %xz: " + type +
                    "[], %z: i8[45, 1, 1, 1]) { %y = ConvInteger(%x, %w, %xz, %z) {" + attrs +
                    ", groups = 45, channels_last = true} return %y }",
           .sizes = {{{"n", 1}, {"h", 7}}, {{"n", 2}, {"h", 12}}},
           .constants = {"w", "z"},
           .ranges = {{"x", {-100, 120}}, {"w", {-128, 127}}, {"xz", {1, 100}}, {"z", {-5, 5}}}});
}

// A picture without rows has windows that lie outside as a whole.
TEST(GemmInt8, ConvolvesEachChannelOfNothing) {
  expectKernelsMatch(
      {.graph = "symbols h graph g(%x: u8[1, h, 9, 45], %w: i8[45, 1, 3, 3], %xz: u8[]) { "
                "%y = ConvInteger(%x, %w, %xz) {strides = [1, 1], dilations = [1, 1], pads_begin = "
                "[1, 1], pads_end = [2, 1], groups = 45, channels_last = true} return %y }",
       .sizes = {{{"h", 0}}, {{"h", 1}}},
       .constants = {"w"},
       .ranges = kBytes});
}

// Filters whose weights are bytes, which some CPUs multiply four taps at a time: channels that fill
// vectors and such that do not, windows that reach beyond either end of a row.
TEST(GemmInt8, ConvolvesEachChannelByBytes) {
  struct Filter {
    std::string kernel, strides, dilations, pads;
  };
  const Filter filters[] = {{"3, 3", "1, 1", "1, 1", "1, 1"}, {"5, 5", "1, 1", "1, 1", "2, 2"},
                            {"5, 5", "2, 2", "1, 1", "2, 2"}, {"3, 3", "1, 2", "2, 3", "2, 3"},
                            {"1, 7", "1, 1", "1, 1", "0, 6"}, {"2, 1", "2, 1", "1, 1", "0, 0"}};
  for (const auto& [kernel, strides, dilations, pads] : filters)
    for (const std::string channels : {"2", "21", "48"})
      for (const std::string type : {"u8", "i8"}) {
        const std::pair<double, double> bytes =
            type == "u8" ? std::pair{0., 255.} : std::pair{-128., 127.};
        expectKernelsMatch({.graph = "symbols n, w graph g(%x: " + type + "[n, 6, w, " + channels +
                                     "], %w: i8[" + channels + ", 1, " + kernel +
                                     "], %xz: " + type +
                                     "[]) { %y = ConvInteger(%x, %w, %xz) {strides = [" + strides +
                                     "], dilations = [" + dilations + "], pads_begin = [" + pads +
                                     "], pads_end = [" + pads + "], groups = " + channels +
                                     ", channels_last = true} return %y }",
                            .sizes = {{{"n", 2}, {"w", 7}}, {{"n", 1}, {"w", 41}}},
                            .constants = {"w"},
                            .ranges = {{"x", bytes}, {"w", {-128, 127}}, {"xz", bytes}}});
      }
}

// Sums that are quantised, dequantised, joined with other bytes and quantised again, and a curve
// over what was quantised.
TEST(GemmInt8, StaysInBytes) {
  const std::string first =
      "cast(min(max(add(round(div(add(mul(cast(x0:i32, f32), 0.003:f32), x1:f32), 0.3:f32)), "
      "5:f32), -128:f32), 127:f32), i8)";
  const std::string start = "t0 = mul(sub(cast(" + first + ", f32), 5:f32), 0.3:f32); ";
  for (const std::string type : {"u8", "i8"})
    for (const std::string& rest :
         {"relu(add(t0, mul(sub(cast(x2:" + type + ", f32), 7:f32), 0.21:f32)))",
          "add(mul(cast(x2:" + type + ", f32), 0.4:f32), t0)",
          std::string("mul(sigmoid(t0), mul(t0, 0.5:f32))")}) {
      const bool joins = rest.find("x2") != std::string::npos;
      expectKernelsMatch(
          {.graph = "symbols n graph g(%x: u8[n, 20], %w: i8[20, 35], %b: f32[35], %r: " + type +
                    "[n, 35]) { %y = MatMulInteger(%x, %w) epilogue(%b" + (joins ? ", %r" : "") +
                    ") {" + start + "cast(min(max(add(round(div(" + rest +
                    ", 0.37:f32)), -3:f32), -128:f32), 127:f32), i8)} return %y }",
           .sizes = {{{"n", 1}}, {{"n", 50}}},
           .constants = {"w", "b"},
           .ranges = kBytes});
    }
}

// Many different sums, each scaled, shifted and divided as the expression says: where a factor more
// or less is rounded, some of these bytes differ.
TEST(GemmInt8, GivesTheBytesOfTheDefinition) {
  std::vector<double> x;
  for (int i = 0; i < 4000; ++i) x.push_back(i / 16 % 256), x.push_back(i % 16 * 16);
  const std::string sums = "mul(cast(x0:i32, f32), mul(x1:f32, 0.0123:f32))";
  const auto quantised = [](const std::string& value, const std::string& scale) {
    return "cast(min(max(add(round(div(" + value + ", " + scale +
           ":f32)), 5:f32), -128:f32), 127:f32), i8)";
  };
  const std::string first = quantised("add(" + sums + ", x2:f32)", "0.3");
  const std::string stage = "mul(sub(cast(" + first + ", f32), 5:f32), 0.3:f32)";
  const std::string joined = "add(" + stage + ", mul(sub(cast(x3:u8, f32), 7:f32), 0.3:f32))";
  const std::string both = "add(add(" + sums + ", x2:f32), x3:f32)";
  const std::string reversed = "add(add(" + sums + ", x3:f32), x2:f32)";
  const std::string twice = "mul(add(" + sums + ", x2:f32), 0.7:f32)";
  const std::string read = "mul(sub(cast(x3:u8, f32), 7:f32), 0.3:f32)";
  const std::string added = "add(add(" + sums + ", x2:f32), " + read + ")";
  const std::string addedFirst = "add(add(" + sums + ", " + read + "), x2:f32)";
  const std::string addedSigned = "add(mul(cast(x3:i8, f32), 0.7:f32), add(" + sums + ", x2:f32))";
  const std::string f32 = ", %r: f32[n, 45]", u8 = ", %r: u8[n, 45]", i8 = ", %r: i8[n, 45]";
  struct Case {
    std::string residual, expr;
  };
  for (const auto& [residual, expr] :
       {Case{"", first},
        Case{"", stage},
        Case{u8, quantised(joined, "0.6")},
        Case{u8, quantised("relu(" + joined + ")", "0.41")},
        Case{u8, quantised(added, "0.6")},
        Case{u8, quantised("min(relu(" + added + "), 20:f32)", "0.41")},
        Case{u8, quantised(addedFirst, "0.6")},
        Case{u8, "mul(sub(cast(" + quantised(added, "0.3") + ", f32), 5:f32), 0.3:f32)"},
        Case{u8,
             quantised("relu(mul(cast(" + quantised(added, "0.3") + ", f32), 0.3:f32))", "0.2")},
        Case{i8, quantised(addedSigned, "0.6")},
        Case{i8, quantised("relu(" + addedSigned + ")", "0.6")},
        Case{f32, quantised(both, "0.3")},
        Case{f32, quantised(reversed, "0.3")},
        Case{"", quantised(twice, "0.25")},
        Case{"", "add(" + sums + ", x2:f32)"},
        Case{f32, both},
        Case{f32, reversed},
        Case{"", twice},
        Case{"", "add(mul(" + sums + ", 0.7:f32), x2:f32)"},
        Case{"", "mul(relu(add(" + sums + ", x2:f32)), 0.7:f32)"},
        Case{"", "add(mul(relu(add(" + sums + ", x2:f32)), 0.7:f32), 0.3:f32)"},
        Case{"", "mul(add(relu(add(" + sums + ", x2:f32)), 3:f32), 0.7:f32)"},
        Case{"", "mul(mul(relu(add(" + sums + ", x2:f32)), 0.7:f32), 0.3:f32)"},
        Case{"", "div(relu(add(" + sums + ", x2:f32)), 3:f32)"},
        Case{"", "t0 = " + sums + "; add(add(t0, x2:f32), t0)"},
        Case{"", "t0 = " + sums + "; add(sub(add(t0, x2:f32), t0), t0)"},
        Case{f32, "t0 = add(" + sums + ", x2:f32); add(add(t0, x3:f32), t0)"},
        Case{f32, "t0 = " + both + "; add(t0, t0)"},
        Case{f32, "t0 = " + both + "; mul(t0, relu(t0))"}})
    expectKernelsMatch(
        {.graph = "symbols n graph g(%x: u8[n, 2], %w: i8[2, 45], %s: f32[45], %b: f32[45]" +
                  residual + ") { %y = MatMulInteger(%x, %w) epilogue(%s, %b" +
                  (residual.empty() ? "" : ", %r") + ") {" + expr + "} return %y }",
         .sizes = {{{"n", 4000}}},
         .constants = {"w", "s", "b"},
         .ranges = {{"w", {-9, 9}}, {"s", {0.3, 3}}, {"r", {residual == i8 ? -60.0 : 0.0, 60}}},
         .values = {{"x", x}},
         .tolerance = 0});
}

// Sums that are used for nothing but themselves.
TEST(GemmInt8, AddsSumsToThemselves) {
  for (const std::string expr : {"add(t0, t0)", "sub(t0, t0)", "mul(t0, t0)",
                                 "cast(min(max(add(round(div(add(t0, t0), 0.3:f32)), 5:f32), "
                                 "-128:f32), 127:f32), i8)"})
    expectKernelsMatch({.graph = "symbols n graph g(%x: u8[n, 20], %w: i8[20, 35]) { "
                                 "%y = MatMulInteger(%x, %w) epilogue() "
                                 "{t0 = mul(cast(x0:i32, f32), 0.0123:f32); " +
                                 expr + "} return %y }",
                        .sizes = {{{"n", 1}}, {{"n", 50}}},
                        .constants = {"w"},
                        .ranges = kBytes,
                        .tolerance = 0});
}

// A residual that is no number gives the byte 0, also where a clamp in front of the rounding, or
// the zero point, keeps numbers from it.
TEST(GemmInt8, GivesNoNumbersTheByteZero) {
  for (const std::string value : {"t0", "relu(t0)", "max(min(t0, -1:f32), -9:f32)"})
    for (const std::string type : {"u8", "i8"})
      for (const std::string zero : {"0", "7", "128", "-7"})
        expectKernelsMatch(
            {.graph = "symbols n graph g(%x: u8[n, 20], %w: i8[20, 35], %r: f32[n, 35]) { "
                      "%y = MatMulInteger(%x, %w) epilogue(%r) "
                      "{t0 = add(mul(cast(x0:i32, f32), 0.0123:f32), x1:f32); "
                      "cast(min(max(add(round(div(" +
                      value + ", 0.1:f32)), " + zero + ":f32), " +
                      (type == "u8" ? "0:f32), 255:f32), u8)" : "-128:f32), 127:f32), i8)") +
                      "} return %y }",
             .sizes = {{{"n", 1}}, {{"n", 50}}},
             .constants = {"w"},
             .ranges = kBytes,
             .values = {{"r", {0.25, std::nan(""), -3}}},
             .tolerance = 0});
}

TEST(GemmInt8, QuantisesByRange) {
  expectKernelsMatch(
      "symbols n graph g(%x: f32[n, 3]) { %q, %s, %z = DynamicQuantize(%x) return %q, %s, %z }",
      {{{"n", 1}}, {{"n", 65}}, {{"n", 70000}}, {{"n", 0}}});
}

TEST(GemmInt8, SaysWhatItDoesNotTake) {
  EXPECT_THAT(
      refusalsOf("graph g(%x: u8[2, 3], %w: i8[3, 4]) { %y = MatMulInteger(%x, %w) return %y }"),
      HasSubstr("cpu/gemm_int8_weights: needs a constant second operand"));
  EXPECT_THAT(refusalsOf("graph g(%x: u8[2, 1, 2, 3], %w: i8[2, 3, 4]) { %y = MatMulInteger(%x, "
                         "%w) return %y }"),
              HasSubstr("needs as many matrices in both operands, or one in either"));
  EXPECT_THAT(refusalsOf("graph g(%x: u8[2, 3], %w: i8[3, 4], %z: i8[]) { %y = MatMulInteger(%x, "
                         "%w, _, %z) return %y }"),
              HasSubstr("needs one constant zero point for its second operand"));
  EXPECT_THAT(refusalsOf("graph g(%x: u8[2, 3], %z: u8[2, 1]) { %w: i8[3, 1] = constant [1, 2, 3] "
                         "%y = MatMulInteger(%x, %w, %z) return %y }"),
              HasSubstr("needs one zero point"));
  EXPECT_THAT(refusalsOf("graph g(%x: u8[2, 3]) { %w: i8[3, 1] = constant [1, 2, 3] "
                         "%y = MatMulInteger(%x, %w) epilogue() {add(x0:i32, 1:i32)} return %y }"),
              HasSubstr("gives neither f32 nor bytes"));
}

}  // namespace
}  // namespace camshaft::cpu
