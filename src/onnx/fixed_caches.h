// Caches that a model grows from step to step, as ones of fixed room that are written in place.
//
//   present = Concat(past, rows)          past [batch, heads, n, size], larger in each step
//   →
//   present = ScatterND(past, at n, rows) past and present [batch, heads, room, size], n an input
//
// What the model calls past is then a slice of the input, and what it calls present one of the
// output: sizes that follow from theirs, and what attends to them, are as they were.
#pragma once

#include <map>
#include <string_view>

#include "onnx/names.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

class FixedCaches {
 public:
  // `inputs`: caches and the axis they grow along (growingCaches()). Adds the input that tells how
  // many rows they hold, and gives each cache's name in the scope to what it holds.
  void add(Graph& graph, const std::map<std::string_view, int64_t>& inputs, Scope& scope);
  // The past with these rows behind it; null where it is no cache of these.
  Value* append(const NodeImport& node, Value* past, Value* rows, int64_t axis);
  // What an output that is such a value becomes: the cache with all its room, under the same name;
  // else the value.
  Value* whole(Graph& graph, Value* value) const;

 private:
  struct Cache {
    Value* memory;
    int64_t axis;
  };
  Dim length_;  // rows that all caches hold before this step
  std::map<const Value*, Cache> pasts_;
  std::map<const Value*, Value*> written_;  // by the slice of what it holds
};

}  // namespace camshaft::onnx::importer
