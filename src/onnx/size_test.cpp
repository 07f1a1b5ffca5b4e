#include "onnx/size.h"

#include <gtest/gtest.h>

namespace camshaft::onnx::importer {
namespace {

constexpr int64_t kEnd = INT64_MAX, kBegin = INT64_MIN;

std::string bounds(const Dim& size, int64_t start, int64_t end, int64_t step) {
  Graph graph;
  graph.symbols["n"] = {{.min = 1}};
  const SliceBounds result = sliceBounds(graph, size, start, end, step);
  return str(result.start, " ", result.size);
}

TEST(SliceBounds, FollowPythonForKnownSizes) {
  EXPECT_EQ(bounds(10, 0, kEnd, 1), "0 10");
  EXPECT_EQ(bounds(10, -3, kEnd, 1), "7 3");
  EXPECT_EQ(bounds(10, -30, 4, 1), "0 4");
  EXPECT_EQ(bounds(10, 8, 3, 1), "8 0");
  EXPECT_EQ(bounds(10, 1, 1000, 4), "1 3");
  EXPECT_EQ(bounds(10, kEnd, kBegin, -1), "9 10");
  EXPECT_EQ(bounds(10, -1, 2, -3), "9 3");
  EXPECT_EQ(bounds(10, 0, 2147483647, 1), "0 10");
}

TEST(SliceBounds, StayPlainForSymbolicSizes) {
  const Dim n = Dim::symbol("n");
  EXPECT_EQ(bounds(n, 0, kEnd, 1), "0 n");
  EXPECT_EQ(bounds(n, -1, kEnd, 1), "n - 1 1");
  EXPECT_EQ(bounds(n, 0, 1, 1), "0 1");
  EXPECT_EQ(bounds(n, 0, -1, 1), "0 n - 1");
  EXPECT_EQ(bounds(n, -1, kBegin, -1), "n - 1 n");
  EXPECT_EQ(bounds(n, 0, 5, 1), "0 min(5, n)");
}

}  // namespace
}  // namespace camshaft::onnx::importer
