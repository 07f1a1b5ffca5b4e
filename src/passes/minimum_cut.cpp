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
  while (measureDistances() && !isTooLong()) pushAlongPaths();
  return isTooLong() ? std::vector<bool>(edgesOf_.size()) : reachingSink();
}

bool MinimumCut::measureDistances() {
  distance_.assign(edgesOf_.size(), -1);
  distance_[kSource] = 0;
  std::vector<int> queue{kSource};
  walked_ += edges_.size();
  for (size_t head = 0; head < queue.size(); ++head)
    for (int e : edgesOf_[queue[head]]) {
      if (edges_[e].left <= 0 || distance_[edges_[e].to] >= 0) continue;
      distance_[edges_[e].to] = distance_[queue[head]] + 1;
      queue.push_back(edges_[e].to);
    }
  return distance_[kSink] >= 0;
}

// Fills every path on which each edge leads further from the source. Paths may be as long as the
// network, so this is a loop and no recursion.
void MinimumCut::pushAlongPaths() {
  nextEdge_.assign(edgesOf_.size(), 0);
  std::vector<int> path;  // edges from the source to where the walk is
  while (!isTooLong()) {
    const int point = path.empty() ? kSource : edges_[path.back()].to;
    if (point == kSink) {
      int64_t flow = kNever;
      for (int e : path) flow = std::min(flow, edges_[e].left);
      for (int e : path) {
        edges_[e].left -= flow;
        edges_[e ^ 1].left += flow;
      }
      // On from the first edge that is full.
      const auto full =
          std::find_if(path.begin(), path.end(), [&](int e) { return edges_[e].left <= 0; });
      walked_ += path.size();
      path.erase(full, path.end());
      continue;
    }
    size_t& next = nextEdge_[point];
    const auto isUseful = [&](int e) {
      return edges_[e].left > 0 && distance_[edges_[e].to] == distance_[point] + 1;
    };
    while (next < edgesOf_[point].size() && !isUseful(edgesOf_[point][next])) ++next;
    ++walked_;
    if (next < edgesOf_[point].size()) {
      path.push_back(edgesOf_[point][next]);
    } else if (!path.empty()) {
      distance_[point] = -1;  // leads nowhere
      path.pop_back();
    } else {
      return;
    }
  }
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
