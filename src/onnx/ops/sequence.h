// What the importers of sequences share.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// The parts, one after the other along an axis that they have or that is new.
Value* joined(const NodeImport& node, std::vector<Value*> parts, int64_t axis, bool asNewAxis);

// A Loop that carries sequences, as copies of its body: how often it runs must be known.
bool carriesSequences(const NodeImport& node);
void importUnrolledLoop(NodeImport& node);

}  // namespace camshaft::onnx::importer
