#include "passes/minimum_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace camshaft {
namespace {

struct TestEdge {
  int from, to;
  int64_t cost;
};

int64_t costOf(const std::vector<TestEdge>& edges, const std::vector<bool>& onSinkSide) {
  int64_t cost = 0;
  for (const TestEdge& edge : edges)
    if (!onSinkSide[edge.from] && onSinkSide[edge.to]) cost += edge.cost;
  return cost;
}

TEST(MinimumCut, IsTheCheapestOfAllDivisions) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    constexpr int kPoints = 8;  // source and sink are two of them
    MinimumCut cut;
    for (int i = 2; i < kPoints; ++i) cut.addPoint();
    std::vector<TestEdge> edges;
    for (int i = 0; i < 20; ++i) {
      edges.push_back({static_cast<int>(random() % kPoints), static_cast<int>(random() % kPoints),
                       static_cast<int64_t>(random() % 10)});
      cut.addEdge(edges.back().from, edges.back().to, edges.back().cost);
    }
    const std::vector<bool> solved = cut.solve();
    EXPECT_FALSE(solved[MinimumCut::kSource]);
    EXPECT_TRUE(solved[MinimumCut::kSink]);
    int64_t cheapest = std::numeric_limits<int64_t>::max();
    for (int choice = 0; choice < 1 << (kPoints - 2); ++choice) {
      std::vector<bool> division{false, true};
      for (int i = 2; i < kPoints; ++i) division.push_back(choice >> (i - 2) & 1);
      cheapest = std::min(cheapest, costOf(edges, division));
    }
    EXPECT_EQ(costOf(edges, solved), cheapest);
  }
}

// Each step of a path would be a call of a recursive search.
TEST(MinimumCut, OfAPathThatIsVeryLong) {
  constexpr int kLength = 500'000;
  MinimumCut cut;
  int last = MinimumCut::kSource;
  for (int i = 0; i < kLength; ++i) {
    const int point = cut.addPoint();
    cut.addEdge(last, point, i == kLength / 2 ? 1 : 2);
    last = point;
  }
  cut.addEdge(last, MinimumCut::kSink, 2);
  const std::vector<bool> solved = cut.solve();
  EXPECT_EQ(std::count(solved.begin(), solved.end(), true), 1 + kLength / 2);
}

// Every point begins a path of another length, each of which would take a walk over all edges.
TEST(MinimumCut, ThatWouldTakeTooLongLeavesEverythingAtTheSource) {
  constexpr int kLength = 30'000;
  MinimumCut cut;
  int last = MinimumCut::kSink;
  for (int i = 0; i < kLength; ++i) {
    const int point = cut.addPoint();
    cut.addEdge(point, last, 1'000'000);
    cut.addEdge(MinimumCut::kSource, point, 1);
    last = point;
  }
  const std::vector<bool> solved = cut.solve();
  EXPECT_EQ(std::count(solved.begin(), solved.end(), true), 0);
}

}  // namespace
}  // namespace camshaft
