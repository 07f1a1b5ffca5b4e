#pragma once

#include "onnx/node_import.h"
#include "ops/pool.h"

namespace camshaft::onnx::importer {

// A pooling of x, [N, C, spatial...], with this node's window attributes.
PoolAttrs poolOf(const NodeImport& node, PoolKind kind, const Value* x);

}  // namespace camshaft::onnx::importer
