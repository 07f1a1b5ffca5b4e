#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Indices of which the last dimension, a tuple, has this length where only the run knows it.
Value* asTuples(const NodeImport& node, Value* indices, int64_t length);

}  // namespace camshaft::onnx::importer
