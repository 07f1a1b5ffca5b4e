#include "passes/minimum_cut.h"

#include <algorithm>

namespace camshaft {

int MinimumCut::addPoint() {
  edgesOf_.emplace_back();
  return static_cast<int>(edgesOf_.size()) - 1;
}

void MinimumCut::addEdge(int from, int to, int64_t cost) {
  edgesOf_[from].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, cost});
  edgesOf_[to].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

// Dinic's algorithm: the largest flow, found along shortest paths, uses up the cheapest cut.
std::vector<bool> MinimumCut::solve() {
  while (measureDistances()) {
    nextEdge_.assign(edgesOf_.size(), 0);
    while (push(kSource, kNever) > 0) {
    }
  }
  return reachingSink();
}

bool MinimumCut::measureDistances() {
  distance_.assign(edgesOf_.size(), -1);
  distance_[kSource] = 0;
  std::vector<int> queue{kSource};
  for (size_t head = 0; head < queue.size(); ++head)
    for (int e : edgesOf_[queue[head]]) {
      if (edges_[e].left <= 0 || distance_[edges_[e].to] >= 0) continue;
      distance_[edges_[e].to] = distance_[queue[head]] + 1;
      queue.push_back(edges_[e].to);
    }
  return distance_[kSink] >= 0;
}

int64_t MinimumCut::push(int point, int64_t limit) {
  if (point == kSink) return limit;
  for (size_t& i = nextEdge_[point]; i < edgesOf_[point].size(); ++i) {
    const int e = edgesOf_[point][i];
    if (edges_[e].left <= 0 || distance_[edges_[e].to] != distance_[point] + 1) continue;
    const int64_t pushed = push(edges_[e].to, std::min(limit, edges_[e].left));
    if (pushed == 0) continue;
    edges_[e].left -= pushed;
    edges_[e ^ 1].left += pushed;
    return pushed;
  }
  return 0;
}

std::vector<bool> MinimumCut::reachingSink() const {
  std::vector<bool> reaches(edgesOf_.size());
  reaches[kSink] = true;
  std::vector<int> queue{kSink};
  for (size_t head = 0; head < queue.size(); ++head)
    for (int e : edgesOf_[queue[head]]) {
      const int from = edges_[e].to;  // e leads back to where its twin comes from
      if (edges_[e ^ 1].left <= 0 || reaches[from]) continue;
      reaches[from] = true;
      queue.push_back(from);
    }
  return reaches;
}

}  // namespace camshaft
