// A CUDA graph made node by node. No stream is captured: a capture would make every other thread
// that synchronises the device fail, and be broken by it.
#pragma once

#include <map>
#include <memory>
#include <string_view>

#include "backend/device.h"
#include "backends/cuda/runtime/driver.h"

namespace camshaft::cuda {

// Nodes that come right before what follows.
class GraphPoint {
 public:
  void add(CUgraphNode node, bool isKernel) { isKernel_.emplace(node, isKernel); }
  void add(const GraphPoint& other) {
    isKernel_.insert(other.isKernel_.begin(), other.isKernel_.end());
  }
  const std::map<CUgraphNode, bool>& nodes() const { return isKernel_; }
  // Whether what follows may start before this ends, and wait by itself: one kernel is followed.
  bool canOverlap() const { return isKernel_.size() == 1 && isKernel_.begin()->second; }

 private:
  std::map<CUgraphNode, bool> isKernel_;
};

// Used by one thread. Nodes belong to the context that is current when the builder is made.
class GraphBuilder {
 public:
  GraphBuilder();
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // The one that takes what this thread queues on `stream`; null: the stream does.
  static GraphBuilder* of(const void* stream);

  // While it lives, the builder takes what this thread queues on `stream`, which stays untouched.
  class Recording {
   public:
    Recording(GraphBuilder& builder, void* stream);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    GraphBuilder* before_;
    const void* streamBefore_;
  };

  CUcontext context() const { return context_; }
  // Where the next node goes, and where it went.
  const GraphPoint& point() const { return point_; }
  void continueFrom(GraphPoint point) { point_ = std::move(point); }

  // Each follows what is at the point, and is the point from then on; `what` continues "could not".
  void addKernel(const CUlaunchConfig& config, CUkernel kernel, void** parameters,
                 std::string_view what);
  void addCopy(void* to, const void* from, size_t bytes);
  void addClearing(void* memory, size_t bytes);

  // A node with edges as they are given. Its context is to be the builder's.
  CUgraphNode addNode(CUgraphNodeParams& params, std::span<const CUgraphNode> after,
                      std::span<const CUgraphEdgeData> edges, std::string_view what);
  // The edges that a node at the point has.
  struct Edges {
    std::vector<CUgraphNode> after;
    std::vector<CUgraphEdgeData> data;
    void add(CUgraphNode node, const CUgraphEdgeData& edge);
  };
  Edges edgesFromPoint(bool mayOverlap) const;

  std::unique_ptr<camshaft::Recording> finish() const;

 private:
  CUgraphNode follow(CUgraphNodeParams& params, bool mayOverlap, std::string_view what);

  CUcontext context_ = nullptr;
  CUgraph graph_ = nullptr;
  GraphPoint point_;
};

}  // namespace camshaft::cuda
