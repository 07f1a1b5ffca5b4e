// Rows written into a cache.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

struct RowsInCache {
  int64_t axis;            // along which the rows follow one another, not 0
  Value* first = nullptr;  // i64, a place for each batch; null: 0
  bool circular = false;   // rows beyond the end go to the beginning
  bool skipsOutside = false;
};
// The cache with these rows of each batch in it, in the cache's place.
Value* writeRows(const NodeImport& node, Value* cache, Value* rows, const RowsInCache& to);

}  // namespace camshaft::onnx::importer
