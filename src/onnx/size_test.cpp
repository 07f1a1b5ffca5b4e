#include "onnx/size.h"

#include <gtest/gtest.h>

namespace camshaft::onnx::importer {
namespace {

constexpr int64_t kEnd = INT64_MAX, kBegin = INT64_MIN;

std::string bounds(const Dim& size, int64_t start, int64_t end, int64_t step) {
  Graph graph;
  InputSizes sizes(graph);
  graph.newSymbol("n");
  sizes.mayAssume("n");
  const SliceBounds result = sliceBounds(sizes, size, start, end, step);
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
  EXPECT_EQ(bounds(0, kEnd, kBegin, -1), "0 0");
  EXPECT_EQ(bounds(0, -1, kBegin, -1), "0 0");
  EXPECT_EQ(bounds(0, 3, 0, -2), "0 0");
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

// Of a size that nothing may be assumed of, 0 included.
TEST(SliceBounds, AreRightAtEverySize) {
  Graph graph;
  InputSizes sizes(graph);
  const Dim n = graph.newSymbol("n");
  for (const int64_t step : {-2, -1, 1, 3})
    for (const int64_t start : {kBegin, int64_t{-3}, int64_t{-1}, int64_t{0}, int64_t{2}, kEnd})
      for (const int64_t end : {kBegin, int64_t{-2}, int64_t{0}, int64_t{1}, int64_t{3}, kEnd}) {
        const SliceBounds symbolic = sliceBounds(sizes, n, start, end, step);
        for (int64_t size = 0; size < 5; ++size) {
          const auto at = [&](const Dim& dim) {
            return evaluate(dim, [&](const std::string&) { return size; });
          };
          const SliceBounds known = sliceBounds(sizes, size, start, end, step);
          const std::string what = str(size, " elements: ", start, ":", end, ":", step);
          EXPECT_EQ(at(symbolic.size), known.size.value()) << what;
          if (known.size.value() > 0) {
            EXPECT_EQ(at(symbolic.start), known.start.value()) << what;
          } else {  // what Slice asks of an empty part
            const int64_t start = at(symbolic.start), last = start - step;
            EXPECT_GE(step > 0 ? start : last, 0) << what;
            EXPECT_GE(size, (step > 0 ? last : start) + 1) << what;
          }
        }
      }
}

// Of n rows, of which there may be none until it is asked for the last.
TEST(InputSizes, AreAtLeastOneOnlyWhereThatDecides) {
  Graph graph;
  InputSizes sizes(graph);
  const Dim n = graph.newSymbol("n"), past = graph.newSymbol("past");
  sizes.mayAssume("n");
  EXPECT_EQ(str(sliceBounds(sizes, n, 0, kEnd, 1).size), "n");
  EXPECT_EQ(str(sliceBounds(sizes, n, 0, 5, 1).size), "min(5, n)");
  EXPECT_EQ(str(atLeast(sizes, n + past, past)), "n + past");
  EXPECT_EQ(graph.symbols["n"].range.min, 0);
  EXPECT_EQ(str(sliceBounds(sizes, n, -1, kEnd, 1).size), "1");
  EXPECT_FALSE(sliceBounds(sizes, past, -1, kEnd, 1).size.isConstant());
  EXPECT_EQ(graph.symbols["n"].range.min, 1);
  EXPECT_EQ(graph.symbols["past"].range.min, 0);
}

TEST(InputSizes, OfABodyAreThoseAround) {
  Graph outer, body;
  InputSizes around(outer), inside(body, &around);
  const Dim n = outer.newSymbol("n"), rows = body.newSymbol("rows");
  around.mayAssume("n");
  inside.mayAssume("rows", n * 3);
  EXPECT_TRUE(inside.isAtLeast(rows, 2));
  EXPECT_FALSE(inside.isAtLeast(rows, 4));
  EXPECT_EQ(body.symbols["rows"].range.min, 3);
  EXPECT_EQ(outer.symbols["n"].range.min, 1);
}

}  // namespace
}  // namespace camshaft::onnx::importer
