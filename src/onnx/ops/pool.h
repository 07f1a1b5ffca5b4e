#pragma once

#include "onnx/node_import.h"
#include "ops/pool.h"

namespace camshaft::onnx::importer {

// A pooling of x, [N, C, spatial...], with this node's window attributes.
struct Pooled {
  Value* y;
  Value* indices = nullptr;  // of maxima, where they are asked for
};
Pooled pool(const NodeImport& node, PoolAttrs attrs, Value* x, bool wantsIndices = false);

}  // namespace camshaft::onnx::importer
