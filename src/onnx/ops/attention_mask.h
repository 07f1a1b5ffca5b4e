// The mask of an Attention node: the given one, and the rules its attributes and lengths add.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

class AttentionMask {
 public:
  // Applies the padding (nonpad_kv_seqlen) and the window (left and right_window_size).
  AttentionMask(const NodeImport& node, const Dim& queries, const Dim& keys);
  // Query i sees keys up to its own position.
  void hideFuture();
  // Null when every key is visible; bool, or floating when the node's mask is.
  Value* combined() const;

 private:
  void placeQueries();
  void compareKeys(ScalarOp op, Value* limit, int64_t distance);

  const NodeImport& node_;
  Dim queryCount_, keyCount_;
  Value* keys_ = nullptr;  // 0, 1, ..., [keys]
  Value* positions_ =
      nullptr;  // of the queries among the keys, [queries, 1] or [batch, 1, queries, 1]
  Value* allowed_ = nullptr;
};

// 0 where a bool mask allows and -infinity elsewhere; a floating mask as it is.
Value* additiveMask(const NodeImport& node, Value* mask, DataType type);

}  // namespace camshaft::onnx::importer
