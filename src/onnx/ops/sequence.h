// What the importers of sequences share.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Whether a copy of a body could not be imported, which has been reported. The node's outputs are
// then spoilt: copies of the body that would read this one's need not be tried.
bool isSpoilt(NodeImport& node, const std::vector<Item>& bodyOutputs);

// An output of a body that has to be a tensor.
Value* tensorOutput(const NodeImport& node, const std::vector<Item>& bodyOutputs, size_t i);

// The parts, one after the other along an axis that they have or that is new.
Value* joined(const NodeImport& node, std::vector<Value*> parts, int64_t axis, bool asNewAxis);

// A Loop that carries sequences, as copies of its body: how often it runs must be known.
bool carriesSequences(const NodeImport& node);
void importUnrolledLoop(NodeImport& node);

}  // namespace camshaft::onnx::importer
