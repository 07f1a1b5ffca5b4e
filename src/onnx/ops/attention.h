// What attention operators share. Heads are [batch, heads, length, size].
#pragma once

#include "onnx/node_import.h"
#include "ops/attention.h"

namespace camshaft::onnx::importer {

// [batch, length, heads * size] as heads; heads as they are.
Value* splitHeads(const NodeImport& node, Value* x, int64_t heads);
// Heads as [batch, length, heads * size].
Value* mergeHeads(const NodeImport& node, Value* x);

}  // namespace camshaft::onnx::importer
