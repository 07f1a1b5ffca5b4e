// From a Graph that passes have worked on back to an ONNX graph.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "onnx/trace.h"
#include "onnx/wire/read_model.h"
#include "onnx/write/graph_writer.h"

namespace camshaft::onnx::writer {

// An ONNX node that is written as it was: the graph has its outputs as inputs, and reads nothing
// of what it does. Null where the node has no such input or output.
struct KeptNode {
  const TracedNode* traced = nullptr;
  std::vector<const Value*> inputs, outputs;
  std::vector<const Value*> captures;  // as traced->captures
};

struct WrittenGraph {
  wire::Graph graph;                   // with the model's own inputs and outputs
  std::unique_ptr<GraphWriter> owner;  // of names and new tensors in it
  struct Refusal {
    const Node* node;
    std::string reason;
  };
  std::vector<Refusal> refusals;  // nodes that cannot be written; then the graph is of no use
};

struct WriteTask {
  const LoadedModel& model;
  const ImportTrace& trace;
  const Graph&
      graph;  // its first outputs are those of the model; its nodes' origins are of the trace
  const std::vector<KeptNode>& kept;
  const std::unordered_set<std::string>& taken;  // names that no new tensor may get
};

// Views in the result are into the model, the graph's constants and `owner`.
// Sizes that are known at run time only are written as arithmetic on shapes, or, if
// `sizesAsImported`, by the nodes that the model had for them; which is less differs from model to
// model. Hints are those of originals.h.
WrittenGraph writeGraph(const WriteTask& task, bool sizesAsImported);

}  // namespace camshaft::onnx::writer
