#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// x [batch, length, heads, size], of which the first 2 * half features of each head are turned in
// pairs, (i, i + half) or neighbours when interleaved. cos and sin broadcast as [batch, length, 1,
// half].
Value* rotate(const NodeImport& node, Value* x, Value* cos, Value* sin, bool interleaved);

}  // namespace camshaft::onnx::importer
