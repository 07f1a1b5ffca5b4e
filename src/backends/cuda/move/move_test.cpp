#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

using ::testing::HasSubstr;

TEST(MoveKernels, TransposeTilesOfEveryElementWidth) {
  expectKernelsMatch(
      "symbols n, h, w graph g(%x: f32[n, 9, h, w]) { %y = Transpose(%x) {order = [3, 1, 0, 2]} "
      "return %y }",
      {{{"n", 2}, {"h", 17}, {"w", 40}}, {{"n", 1}, {"h", 1}, {"w", 3}}});
  expectKernelsMatch(
      "graph g(%x: f16[2, 70, 66]) { %y = Transpose(%x) {order = [0, 2, 1]} return %y }");
  expectKernelsMatch(
      "symbols h graph g(%x: i8[2, 12, h, 8]) { %y = Transpose(%x) {order = [0, 2, 3, 1]} return "
      "%y }",
      {{{"h", 20}}, {{"h", 3}}});
  expectKernelsMatch("graph g(%x: f64[33, 35]) { %y = Transpose(%x) {order = [1, 0]} return %y }");
}

TEST(MoveKernels, TransposeOfAFewChannels) {
  expectKernelsMatch(
      "symbols n graph g(%x: f32[n, 3, 5, 16]) { %y = Transpose(%x) {order = [0, 2, 3, 1]} return "
      "%y }",
      {{{"n", 3}}, {{"n", 1}}});
  expectKernelsMatch(
      "graph g(%x: u8[2, 7, 6, 6]) { %y = Transpose(%x) {order = [0, 2, 3, 1]} return %y }");
  expectKernelsMatch(
      "symbols n graph g(%x: f16[n, 4, 8, 3]) { %y = Transpose(%x) {order = [0, 3, 1, 2]} return "
      "%y }",
      {{{"n", 2}}});
  expectKernelsMatch(
      "graph g(%x: f32[2, 3, 4, 8], %s: f32[3]) {"
      "  %y = Transpose(%x) {order = [0, 2, 3, 1]} epilogue(%s) {cast(mul(x0:f32, x1:f32), f16)}"
      "  return %y }");
}

TEST(MoveKernels, TransposeWithEpilogue) {
  expectKernelsMatch(
      "symbols n graph g(%x: f16[n, 34, 66], %b: f16[66, 1], %r: f16[n, 66, 34]) {"
      "  %y = Transpose(%x) {order = [0, 2, 1]} epilogue(%b, %r) {relu(add(add(x0:f16, x1:f16), "
      "x2:f16))}"
      "  return %y }",
      {{{"n", 3}}});
}

TEST(MoveKernels, ConcatOfAnyNumber) {
  expectKernelsMatch(
      "symbols n, t graph g(%x: f32[n, t, 4], %y: f32[n, 5, 4], %z: f32[n, t, 4]) {"
      "  %a = Concat(%x, %y, %z) {axis = 1} return %a }",
      {{{"n", 2}, {"t", 3}}, {{"n", 1}, {"t", 0}}});
  expectKernelsMatch(
      "symbols n graph g(%a: i64[n], %b: i64[2], %c: i64[n], %d: i64[1], %e: i64[7]) {"
      "  %y = Concat(%a, %b, %c, %d, %e) {axis = 0} return %y }",
      {{{"n", 4}}, {{"n", 0}}});
  expectKernelsMatch(
      "symbols n graph g(%a: f16[n, 16], %b: f16[n, 8], %s: f32[n, 1]) {"
      "  %y = Concat(%a, %b) {axis = 1} epilogue(%s) {mul(cast(x0:f16, f32), x1:f32)} return %y }",
      {{{"n", 5}}});
}

// Anchor generators join hundreds of sizes.
TEST(MoveKernels, ConcatOfVeryMany) {
  std::string inputs, names;
  for (int i = 0; i < 150; ++i) {
    inputs += str(i == 0 ? "" : ", ", "%x", i, ": f32[n + ", i % 5, "]");
    names += str(i == 0 ? "" : ", ", "%x", i);
  }
  expectKernelsMatch(
      str("symbols n graph g(", inputs, ") { %y = Concat(", names, ") {axis = 0} return %y }"),
      {{{"n", 2}}, {{"n", 0}}});
}

TEST(MoveKernels, PadInEveryMode) {
  const Sizes sizes = {{{"n", 2}, {"w", 5}}, {{"n", 1}, {"w", 9}}};
  const std::string graph = "symbols n, w graph g(%x: f32[n, 4, w], %v: f32[]) { %y = Pad";
  expectKernelsMatch(graph + "(%x) {begin = [0, 1, 2], end = [1, 0, 3]} return %y }", sizes);
  expectKernelsMatch(graph + "(%x, %v) {begin = [0, 0, -1], end = [0, 2, 1]} return %y }", sizes);
  expectKernelsMatch(
      graph + "(%x) {mode = reflect, begin = [0, 2, 1], end = [0, 7, 9]} return %y }", sizes);
  expectKernelsMatch(graph + "(%x) {mode = edge, begin = [1, 2, 0], end = [0, 0, w]} return %y }",
                     sizes);
  expectKernelsMatch(graph + "(%x) {mode = wrap, begin = [0, 1, 12], end = [0, 1, -1]} return %y }",
                     sizes);
  expectKernelsMatch(
      "symbols h graph g(%x: f16[2, h, 3, 8], %b: f16[8]) {"
      "  %y = Pad(%x) {begin = [0, 1, 2, 0], end = [0, 1, 0, 0]} epilogue(%b) {add(x0:f16, "
      "x1:f16)} return %y }",
      {{{"h", 3}}, {{"h", 0}}});
}

TEST(MoveKernels, PadEachType) {
  for (const char* type :
       {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", "bf16", "f64"})
    expectKernelsMatch(str("symbols n graph g(%x: ", type, "[n, 5]) { %y = Pad(%x) {mode = edge, ",
                           "begin = [1, 2], end = [0, 3]} return %y }"),
                       {{{"n", 3}}});
}

TEST(MoveKernels, TileAndTrilu) {
  expectKernelsMatch(
      "symbols n, w graph g(%x: f32[n, 1, w]) { %y = Tile(%x) {repeats = [1, n, 2]} return %y }",
      {{{"n", 2}, {"w", 5}}, {{"n", 1}, {"w", 1}}});
  expectKernelsMatch("graph g(%x: u8[3, 2, 16]) { %y = Tile(%x) {repeats = [2, 3, 1]} return %y }");
  for (const char* attributes : {"upper = true, diagonal = 1", "upper = false, diagonal = -1",
                                 "upper = false, diagonal = n"})
    expectKernelsMatch(std::string("symbols n graph g(%x: f32[n, 5, 6]) { %y = Trilu(%x) {") +
                           attributes + "} return %y }",
                       {{{"n", 2}}});
}

TEST(MoveKernels, RefusePackedElements) {
  EXPECT_THAT(
      refusalsOf(
          "graph g(%x: u4[8, 2], %z: u4[8, 2]) { %y = Concat(%x, %z) {axis = 1} return %y }"),
      HasSubstr("device code lacks"));
}

}  // namespace
}  // namespace camshaft::cuda
