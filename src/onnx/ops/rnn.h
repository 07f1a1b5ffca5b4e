#pragma once

#include "onnx/node_import.h"
#include "ops/rnn.h"

namespace camshaft::onnx::importer {

// The layer with this node's attributes, and these as Recurrent's inputs; sets the outputs.
void addRecurrent(NodeImport& node, RecurrentKind kind, std::vector<Value*> inputs);

}  // namespace camshaft::onnx::importer
