#pragma once

#include "onnx/node_import.h"
#include "ops/softmax.h"

namespace camshaft::onnx::importer {

// Over one axis, or over all dimensions from it on together.
Value* softmax(const NodeImport& node, Value* x, int64_t axis, bool flattens,
               SoftmaxKind kind = SoftmaxKind::kSoftmax);

}  // namespace camshaft::onnx::importer
