// What the attention operators of com.microsoft share.
#pragma once

#include "onnx/ops/attention.h"

namespace camshaft::onnx::importer {

// 0 where a key may be seen and `hidden` elsewhere, broadcasting to [batch, heads, queries, keys],
// from a mask of which key is one: lengths [batch], ends and starts [2 * batch], or flags
// [batch, keys], [batch, queries, keys] or [batch, 1, longest, longest].
Value* keyMask(const NodeImport& node, Value* mask, double hidden, const Value* q, const Value* k);

// Attention with this node's scale, as [batch, length, heads * size]; the mask is added when it
// floats, and may be null.
Value* attend(const NodeImport& node, Value* q, Value* k, Value* v, Value* mask,
              AttentionAttrs attrs);

}  // namespace camshaft::onnx::importer
