// Nodes of a graph that a library's work was recorded into, made anew in a graph of ours.
#pragma once

#include <optional>
#include <string>

#include "backends/cuda/runtime/graph_builder.h"

namespace camshaft::cuda {

// Adds the nodes of `recorded` to `graph`, after what is at its point, with the edges they have.
// They were recorded in context `from`: kernels are found again in the graph's own. Returns why
// that cannot be done, in words that follow "it" ("allocates memory"), and has then added nothing;
// null: it is done.
std::optional<std::string> rebuild(CUgraph recorded, CUcontext from, GraphBuilder& graph);

}  // namespace camshaft::cuda
