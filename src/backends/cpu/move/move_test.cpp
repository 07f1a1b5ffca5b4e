#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

using Sizes = std::vector<std::map<std::string, int64_t>>;
const Sizes kSizes = {
    {{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 5}}, {{"n", 37}, {"m", 130}}, {{"n", 8}, {"m", 64}}};

std::string onX(const std::string& type, const std::string& shape, const std::string& node) {
  // %sizes is there to give both symbols a value.
  return "symbols n, m graph g(%sizes: u8[n, m], %x: " + type + shape + ") { %y = " + node +
         " return %y }";
}

TEST(Move, Transpose) {
  for (const char* type : {"f32", "f16", "u8", "i64", "bool"}) {
    for (const char* order : {"[0, 1, 2, 3]", "[0, 2, 3, 1]", "[0, 3, 1, 2]", "[3, 2, 1, 0]",
                              "[0, 2, 1, 3]", "[1, 0, 3, 2]"})
      expectKernelsMatch(
          onX(type, "[2, n, m, 7]", std::string("Transpose(%x) {order = ") + order + "}"), kSizes);
    expectKernelsMatch(onX(type, "[n, m]", "Transpose(%x) {order = [1, 0]}"), kSizes);
    expectKernelsMatch(onX(type, "[n, m, 2, 3, 2]", "Transpose(%x) {order = [3, 0, 4, 1, 2]}"),
                       kSizes);
  }
  expectKernelsMatch(onX("f32", "[]", "Transpose(%x) {order = []}"), kSizes);
  expectKernelsMatch(onX("f32", "[3, 300, 300]", "Transpose(%x) {order = [1, 2, 0]}"), kSizes);
}

TEST(Move, IdentityAndReshape) {
  expectKernelsMatch(onX("f32", "[n, m]", "Identity(%x)"), kSizes);
  expectKernelsMatch(onX("i4", "[n, m]", "Identity(%x)"), kSizes);
  expectKernelsMatch(onX("f16", "[n, m]", "Reshape(%x) {shape = [n*m]}"), kSizes);
}

TEST(Move, Expand) {
  expectKernelsMatch(onX("f32", "[n, 1]", "Expand(%x) {shape = [2, n, m]}"), kSizes);
  expectKernelsMatch(onX("u8", "[m]", "Expand(%x) {shape = [n, m]}"), kSizes);
  expectKernelsMatch(onX("i64", "[]", "Expand(%x) {shape = [n, m]}"), kSizes);
  expectKernelsMatch(onX("f16", "[2, 1, 3, 1]", "Expand(%x) {shape = [2, n, 3, m]}"), kSizes);
}

TEST(Move, Tile) {
  expectKernelsMatch(onX("f32", "[n, m]", "Tile(%x) {repeats = [2, 3]}"), kSizes);
  expectKernelsMatch(onX("i64", "[n, 2, m]", "Tile(%x) {repeats = [1, n, 2]}"), kSizes);
  expectKernelsMatch(onX("u8", "[n, m]", "Tile(%x) {repeats = [0, 2]}"), kSizes);
}

TEST(Move, Slice) {
  expectKernelsMatch(
      onX("f32", "[n, m]", "Slice(%x) {axes = [1], starts = [0], sizes = [m], steps = [1]}"),
      kSizes);
  expectKernelsMatch(onX("f16", "[n, m]",
                         "Slice(%x) {axes = [0, 1], starts = [n - 1, 0], sizes = [n, floordiv(m + "
                         "1, 2)], steps = [-1, 2]}"),
                     kSizes);
  expectKernelsMatch(
      onX("f32", "[n, 9, m]", "Slice(%x) {axes = [1], starts = [3], sizes = [4], steps = [1]}"),
      kSizes);
  expectKernelsMatch(
      onX("i64", "[n, m, 4]", "Slice(%x) {axes = [2], starts = [3], sizes = [2], steps = [-2]}"),
      kSizes);
  EXPECT_NE(
      launchErrorOf({.graph = onX("f32", "[n]",
                                  "Slice(%x) {axes = [0], starts = [m], sizes = [2], steps = [1]}"),
                     .sizes = {{{"n", 3}, {"m", 2}}}})
          .find("slice takes elements 2 to 3 of 3"),
      std::string::npos);
}

TEST(Move, Concat) {
  const std::string inputs =
      "symbols n, m graph g(%a: f32[n, 3, m], %b: f32[n, 5, m], %c: f32[n, m, m]) ";
  expectKernelsMatch(inputs + "{ %y = Concat(%a, %b, %c) {axis = 1} return %y }", kSizes);
  expectKernelsMatch(
      "symbols n, m graph g(%a: u8[n, m], %b: u8[n, 1]) { %y = Concat(%a, %b, %a) {axis = 1} "
      "return %y }",
      kSizes);
  expectKernelsMatch(
      "symbols n, m graph g(%a: i64[n, m], %b: i64[m, m]) { %y = Concat(%a, %b) {axis = 0} return "
      "%y }",
      kSizes);
  // Nothing is in either, however long a row is.
  expectKernelsMatch(
      "symbols n graph g(%a: f32[n, 100], %b: f32[n, 100]) { %y = Concat(%a, %b) {axis = 1} return "
      "%y }",
      {{{"n", 0}}});
}

TEST(Move, Pad) {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"})
    for (const char* type : {"f32", "f16", "u8", "i64"})
      for (const char* pads :
           {"begin = [0, 1, 2, 0], end = [0, 1, 1, 0]", "begin = [1, 0, 0, 2], end = [0, 0, 0, 3]",
            "begin = [0, m, n, 0], end = [0, 0, 7, 0]",
            "begin = [0, -1, 1, -1], end = [0, 1, 1, 0]"})
        expectKernelsMatch(
            onX(type, "[2, n, m, 5]", std::string("Pad(%x) {mode = ") + mode + ", " + pads + "}"),
            kSizes);
  expectKernelsMatch(
      "symbols n, m graph g(%x: f32[n, m], %v: f32[]) { %y = Pad(%x, %v) {begin = [1, 0], end = "
      "[0, 3]} return %y }",
      kSizes);
}

}  // namespace
}  // namespace camshaft::cpu
