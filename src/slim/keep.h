// Which ONNX nodes stay as they are.
#pragma once

#include <optional>
#include <set>

#include "onnx/trace.h"

namespace camshaft {

// Whether a node can be copied into a model of these opsets: all it reads and gives are tensors.
bool canKeep(const onnx::TracedNode& traced, const onnx::Model& model);

// Nodes, by index, that only compute constants and would make the model larger as such: what a
// filled tensor or quantised weights are made of is less than they are.
std::set<size_t> growing(const onnx::ImportTrace& trace, const onnx::Model& model);

// The importer goes on with the branch that squeezes where an If leaves a tensor as it is unless a
// size is 1, and engines check that. A model does so where it still has the Squeeze: those nodes;
// nothing where a branch was chosen that has none. So do other nodes that count on a size, such as
// a Squeeze without axes: they are among those kept, and nothing where they cannot be.
std::optional<std::set<size_t>> squeezesOfChosenBranches(const Graph& imported,
                                                         const onnx::ImportTrace& trace,
                                                         const onnx::Model& model);

// Of two different run-time sizes that broadcast either may be 1; where their expressions are long
// the importer follows one of them, which engines check. That is no matter until somebody asks for
// sizes of what follows from it or brings it into a shape that was computed: the first ONNX node to
// do so.
const onnx::TracedNode* findUseOfOpenBroadcast(const onnx::ImportTrace& trace);

}  // namespace camshaft
