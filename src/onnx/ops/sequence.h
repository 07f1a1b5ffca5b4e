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

// The elements along a new dimension 0, of a sequence that has some; they must be of one type.
Value* stacked(const NodeImport& node, const Sequence& sequence);

// A Loop that carries sequences. Where it is known how often it runs it becomes copies of its body;
// elsewhere what iterations append is a scan output.
bool carriesSequences(const NodeImport& node);
void importSequenceLoop(NodeImport& node);
// False: how often it runs is known at run time only.
bool unrollLoop(NodeImport& node);

}  // namespace camshaft::onnx::importer
