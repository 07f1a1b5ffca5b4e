// A pass that only slimming runs: kernels read slices and write joins in place.
#pragma once

#include "passes/pass.h"

namespace camshaft {

// Slices along some axes of a Slice along others, which nothing else reads, are slices along all;
// a Concat among the operands of another one gives it its own.
bool mergeMoves(Graph& graph, const PassOptions& options);

}  // namespace camshaft
