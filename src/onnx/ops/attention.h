// What attention operators share. Heads are [batch, heads, length, size].
#pragma once

#include "onnx/node_import.h"
#include "ops/attention.h"

namespace camshaft::onnx::importer {

// [batch, length, heads * size] as heads; heads as they are.
Value* splitHeads(const NodeImport& node, Value* x, int64_t heads);
// Heads as [batch, length, heads * size].
Value* mergeHeads(const NodeImport& node, Value* x);
// What scores are multiplied with: `given`, or without one (0) the root of a head's size inverted.
// Where that is known at run time only it is q that is multiplied, and the scale is 1.
double scoreScale(const NodeImport& node, double given, const Dim& size, Value*& q);

}  // namespace camshaft::onnx::importer
