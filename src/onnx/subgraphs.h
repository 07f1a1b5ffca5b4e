// Which parts of a model can be imported, for callers that run the rest elsewhere.
#pragma once

#include <vector>

#include "onnx/import.h"

namespace camshaft::onnx {

struct Subgraph {
  std::vector<int64_t> nodes;  // positions in the main graph, in an order that computes them
  bool supported = true;
};

// The main graph's nodes cut into runs of importable and other nodes. All nodes of a run come after
// those of the runs before it, so runs can be computed one after the other. `problems` are those of
// its import; one that is no node's spoils the whole model.
std::vector<Subgraph> subgraphsOf(const LoadedModel& model,
                                  const std::vector<ImportProblem>& problems);

}  // namespace camshaft::onnx
