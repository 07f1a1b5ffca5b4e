// Which ONNX nodes stay as they are.
#pragma once

#include <set>

#include "onnx/trace.h"

namespace camshaft {

// Whether a node can be copied into a model of these opsets: all it reads and gives are tensors.
bool canKeep(const onnx::TracedNode& traced, const onnx::Model& model);

// Nodes, by index, that only compute constants and would make the model larger as such: what a
// filled tensor or quantised weights are made of is less than they are.
std::set<size_t> growing(const onnx::ImportTrace& trace, const onnx::Model& model);

}  // namespace camshaft
