// Which parts of a model can be imported, for callers that run the rest elsewhere.
#pragma once

#include <vector>

#include "onnx/import.h"

namespace camshaft::onnx {

struct Subgraph {
  std::vector<int64_t> nodes;  // positions in the main graph, in an order that computes them
  bool supported = true;       // false: nobody knows, as they were not tried
};

// The runs of nodes in the main graph that lie between those that cannot be imported. All nodes of
// a run come after those of the runs before it, so runs can be computed one after the other.
// `problems` and `untried` (ImportOptions) are those of its import; a problem that is no node's
// spoils the whole model, and there are no runs.
std::vector<Subgraph> subgraphsOf(const LoadedModel& model,
                                  const std::vector<ImportProblem>& problems,
                                  const std::vector<int>& untried);

}  // namespace camshaft::onnx
