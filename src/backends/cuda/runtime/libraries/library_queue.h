// How a library's work comes onto a stream, or into a graph.
#pragma once

#include "backends/cuda/runtime/graph_builder.h"
#include "support/function_ref.h"

namespace camshaft::cuda {

// Calls call(stream), which has a library queue a step's work there. While the step is recorded,
// prepare() and the call are made in a private context instead, the call on a captured stream of
// it, and the library's launches are made anew in the graph. Whatever belongs to a context must so
// be looked up in the call, and what takes more than launches be made before, by prepare().
// Throws Error(kUnsupported), saying why, when the launches cannot be put into a graph.
void queueLibrary(void* stream, FunctionRef<void()> prepare, FunctionRef<void(void* stream)> call);

// The same for a library that fills graphs by itself, in the caller's context: fill(graph) is false
// where it does not. False as well where the stream is not recorded.
bool addLibraryNodes(void* stream, FunctionRef<bool(CUgraph graph)> fill);

}  // namespace camshaft::cuda
