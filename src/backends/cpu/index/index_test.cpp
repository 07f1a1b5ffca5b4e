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

// Indices of one element in some dimensions, of fewer than the data in others, of many dimensions.
struct ElementShapes {
  std::vector<int64_t> data;
  std::string indices;
  std::string dataText() const { return str("[", join(data, ", "), "]"); }
};
const std::vector<ElementShapes> kElementShapes = {{{21, 130, 4}, "[n, m, 4]"},
                                                   {{21, 130, 3}, "[n, m, 1]"},
                                                   {{21, 130}, "[n, 1]"},
                                                   {{21, 130}, "[1, m]"},
                                                   {{150}, "[m]"},
                                                   {{2, 21, 1, 130}, "[2, n, 1, m]"},
                                                   {{20, 2, 3, 130}, "[n, 2, 3, m]"}};

// Calls f(shapes, axis, the axis' size) for every dimension of each.
template <class F>
void forEachAxis(F&& f) {
  for (const ElementShapes& shapes : kElementShapes)
    for (size_t axis = 0; axis < shapes.data.size(); ++axis) f(shapes, axis, shapes.data[axis]);
}

TEST(Index, ElementsAlongEveryDimension) {
  for (const char* type : {"f32", "u8", "f16", "i64"})
    forEachAxis([&](const ElementShapes& shapes, size_t axis, int64_t size) {
      expectKernelsMatch({.graph = onData(type, shapes.dataText(), "i32" + shapes.indices,
                                          str("GatherElements(%d, %i) {axis = ", axis, "}")),
                          .sizes = kSizes,
                          .ranges = {{"i", {-size, size - 1}}}});
    });
}

std::string scatter(const std::string& op, const std::string& type, const std::string& data,
                    const std::string& indices, const std::string& updates,
                    const std::string& attributes) {
  return "symbols n, m graph g(%d: " + type + data + ", %i: i64" + indices + ", %u: " + type +
         updates + ") { %y = " + op + "(%d, %i, %u) {" + attributes + "} return %y }";
}

TEST(Index, ScatterOfEveryKind) {
  for (const char* reduction : {"none", "add", "mul", "min", "max"}) {
    const std::string kind = std::string("reduction = ") + reduction;
    for (const char* type : {"f32", "i32", "i64"})
      forEachAxis([&](const ElementShapes& shapes, size_t axis, int64_t size) {
        if (type[0] == 'i' && shapes.data.size() > 2) return;
        expectKernelsMatch(
            {.graph = scatter("ScatterElements", type, shapes.dataText(), shapes.indices,
                              shapes.indices, str("axis = ", axis, ", ", kind)),
             .sizes = kSizes,
             .ranges = {{"i", {-size, size - 1}}}});
      });
    for (const char* cell : {"[9, 8, m]", "[9, 8, 200]"})
      expectKernelsMatch({.graph = scatter("ScatterND", "f32", cell, "[n, 2]",
                                           std::string("[n, ") + std::string(cell).substr(7), kind),
                          .sizes = kSizes,
                          .ranges = {{"i", {-2, 2}}}});
  }
  const std::string refusals = refusalsOf(
      scatter("ScatterElements", "u8", "[9]", "[3]", "[3]", "axis = 0, reduction = add"));
  EXPECT_NE(refusals.find("cpu/scatter_elements: only replaces elements of this type"),
            std::string::npos)
      << refusals;
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
