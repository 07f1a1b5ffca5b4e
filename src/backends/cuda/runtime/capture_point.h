// Where a stream stands in the graph it is captured into.
#pragma once

#include <map>
#include <vector>

#include "backends/cuda/runtime/driver.h"

namespace camshaft::cuda {

// Nodes of the graph being captured that come right before what follows.
class CapturePoint {
 public:
  static CapturePoint reachedOn(CUstream stream) {
    CUstreamCaptureStatus status{};
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    size_t count = 0;
    check(
        driver().cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &edges, &count),
        "follow the recording of a CUDA graph");
    CapturePoint point;
    for (size_t i = 0; i < count; ++i)
      point.nodes_.emplace(nodes[i], edges ? edges[i] : CUgraphEdgeData{});
    return point;
  }
  void add(const CapturePoint& other) { nodes_.insert(other.nodes_.begin(), other.nodes_.end()); }
  // What is captured next follows these nodes alone.
  void continueFrom(CUstream stream) const {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;
    for (const auto& [node, edge] : nodes_) {
      nodes.push_back(node);
      edges.push_back(edge);
    }
    check(driver().cuStreamUpdateCaptureDependencies(
              stream, nodes.data(), edges.data(), nodes.size(), CU_STREAM_SET_CAPTURE_DEPENDENCIES),
          "record branches of a CUDA graph");
  }

 private:
  std::map<CUgraphNode, CUgraphEdgeData> nodes_;
};

}  // namespace camshaft::cuda
