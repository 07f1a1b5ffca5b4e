// The cheapest way to divide a network of yes/no choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace camshaft {

// Points are divided between the source and the sink so that the edges which lead from the
// source's side to the sink's cost the least together. Of equally cheap divisions, the one with
// most points on the source's side.
class MinimumCut {
 public:
  static constexpr int kSource = 0, kSink = 1;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

  MinimumCut() : edgesOf_(2) {}
  int addPoint();
  void addEdge(int from, int to, int64_t cost);
  // For every point, whether it is on the sink's side. Where the cheapest division takes too long
  // to find, all points are on the source's: networks that are no longer than real ones take a few
  // walks over their edges.
  std::vector<bool> solve();

 private:
  struct Edge {
    int to;
    int64_t left;  // capacity not used by the flow
  };
  bool measureDistances();
  void pushAlongPaths();
  bool isTooLong() const { return walked_ > kMostWalks * edges_.size() + kAlways; }
  std::vector<bool> reachingSink() const;

  static constexpr size_t kMostWalks = 200, kAlways = 1'000'000;  // of edges

  std::vector<Edge> edges_;  // each is followed by its reverse
  std::vector<std::vector<int>> edgesOf_;
  std::vector<int> distance_;
  std::vector<size_t> nextEdge_;
  size_t walked_ = 0;
};

}  // namespace camshaft
