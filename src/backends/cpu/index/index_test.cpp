#include <gtest/gtest.h>

#include "backends/cpu/kernel_harness.h"

namespace camshaft::cpu {
namespace {

const std::vector<std::map<std::string, int64_t>> kSizes = {
    {{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 5}}, {{"n", 20}, {"m", 130}}};

std::string onData(const std::string& type, const std::string& data, const std::string& indices,
                   const std::string& node) {
  return "symbols n, m graph g(%d: " + type + data + ", %i: " + indices + ") { %y = " + node +
         " return %y }";
}

TEST(Index, Gather) {
  for (const char* type : {"f32", "f16", "u8", "i64"})
    for (const char* axis : {"0", "1", "2"})
      expectKernelsMatch({.graph = onData(type, "[7, 7, 7]", "i64[n, m]",
                                          std::string("Gather(%d, %i) {axis = ") + axis + "}"),
                          .sizes = kSizes,
                          .ranges = {{"i", {-7, 6}}}});
  expectKernelsMatch({.graph = onData("f32", "[7, m]", "i32[]", "Gather(%d, %i) {axis = 0}"),
                      .sizes = kSizes,
                      .ranges = {{"i", {-7, 6}}}});
  EXPECT_EQ(launchErrorOf({.graph = onData("f32", "[7, m]", "i32[3]", "Gather(%d, %i) {axis = 0}"),
                           .sizes = kSizes,
                           .ranges = {{"i", {7, 7}}}}),
            "index 7 lies outside of a dimension of size 7");
}

TEST(Index, GatherElementsAndGatherND) {
  for (const char* axis : {"0", "1"})
    expectKernelsMatch(
        {.graph = onData("f32", "[200, 200]", "i64[n, m]",
                         std::string("GatherElements(%d, %i) {axis = ") + axis + "}"),
         .sizes = kSizes,
         .ranges = {{"i", {-200, 199}}}});
  expectKernelsMatch({.graph = onData("f32", "[4, 5, m]", "i64[n, 2]", "GatherND(%d, %i)"),
                      .sizes = kSizes,
                      .ranges = {{"i", {-4, 3}}}});
  expectKernelsMatch(
      {.graph = onData("u8", "[n, 5, 6]", "i64[n, m, 1]", "GatherND(%d, %i) {batch_dims = 1}"),
       .sizes = kSizes,
       .ranges = {{"i", {-5, 4}}}});
}

TEST(Index, Scatter) {
  expectKernelsMatch(
      {.graph = "symbols n, m graph g(%d: f32[30, 130], %i: i64[n, m], %u: f32[n, m]) { %y = "
                "ScatterElements(%d, %i, %u) {axis = 1} return %y }",
       .sizes = kSizes,
       .ranges = {{"i", {-130, 129}}}});
  expectKernelsMatch(
      {.graph = "symbols n, m graph g(%d: f32[9, 8, m], %i: i64[n, 2], %u: f32[n, m]) { %y = "
                "ScatterND(%d, %i, %u) return %y }",
       .sizes = kSizes,
       .ranges = {{"i", {-8, 7}}}});
}

TEST(Index, OneHot) {
  for (const char* axis : {"0", "1", "2"})
    expectKernelsMatch({.graph = std::string("symbols n, m graph g(%i: i64[n, m], %v: f32[2]) { %y "
                                             "= OneHot(%i, %v) {depth = 9, axis = ") +
                                 axis + "} return %y }",
                        .sizes = kSizes,
                        .ranges = {{"i", {-12, 12}}}});
}

TEST(Index, TopK) {
  for (const char* type : {"f32", "i64", "i32"})
    for (const char* attributes :
         {"axis = 0, k = 4", "axis = 1, k = 3", "axis = 1, k = 17, largest = false"})
      expectKernelsMatch(std::string("symbols n, m graph g(%x: ") + type +
                             "[n + 5, 17, m]) { %v, %j = TopK(%x) {" + attributes +
                             "} return %v, %j }",
                         kSizes);
}

}  // namespace
}  // namespace camshaft::cpu
