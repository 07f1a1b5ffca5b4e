// A copy of an imported graph to run passes on, whose nodes know by their origins which part of
// which ONNX node they are.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "onnx/trace.h"
#include "onnx/write/write_graph.h"

namespace camshaft {

class WorkingCopy {
 public:
  explicit WorkingCopy(const Graph& imported);  // with a trace

  // The node's outputs become inputs of the graph, and what it reads stays alive.
  void keep(const onnx::TracedNode& traced);
  // After all keep(): only then no value is replaced that another kept node still looks for.
  void cut();
  std::vector<onnx::writer::KeptNode> keptNodes() const;

  Graph& graph() { return graph_; }

 private:
  void rebindSymbols();
  bool isUnused(const Node* node) const;
  void keepAlive(const Value& imported);

  struct Kept {
    const onnx::TracedNode* traced;
    std::vector<const Value*> imported;
    std::vector<Value*> outputs;
    size_t firstOutput;  // of the graph, that keeps an input of the node alive
  };
  Graph graph_;
  size_t firstKept_;  // among its inputs
  std::vector<Kept> kept_;
};

}  // namespace camshaft
