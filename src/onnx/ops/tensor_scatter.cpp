// TensorScatter: rows written into a cache, from a position of each batch's own.
#include "onnx/ops/tensor_scatter.h"

#include "onnx/ops/range.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

// Of every row, the coordinates in the cache: its own but for the last, which is moved.
Value* writeRows(const NodeImport& node, Value* cache, Value* rows, const RowsInCache& to) {
  Shape tuples(rows->shape().begin(), rows->shape().begin() + to.axis + 1);
  tuples.push_back(1);
  std::vector<Value*> coordinates;
  for (int64_t i = 0; i <= to.axis; ++i) {
    Shape line(to.axis + 2, Dim(1));
    line[i] = tuples[i];
    Value* own = node.reshape(counting(node, DataType::kI64, tuples[i]), line);
    if (i == to.axis && to.first) {
      Shape batches(to.axis + 2, Dim(1));
      batches[0] = tuples[0];
      own = node.binary(ScalarOp::kAdd, own, node.reshape(to.first, batches));
    }
    if (i == to.axis && to.circular)
      own = node.binary(ScalarOp::kMod, own, sizeTensor(node, cache->shape()[to.axis]));
    coordinates.push_back(node.expand(own, tuples));
  }
  ConcatAttrs side;
  side.axis = to.axis + 1;
  Value* places = node.add(&ops::Concat, std::move(coordinates), side);
  ScatterNDAttrs attrs;
  attrs.skipsOutside = to.skipsOutside;
  attrs.replacesData = true;
  return node.add(&ops::ScatterND, {cache, places, rows}, attrs);
}

void importTensorScatter(NodeImport& node) {
  Value *cache = node.input(0), *update = node.input(1);
  RowsInCache to;
  to.axis = node.axisAttribute("axis", -2, cache->rank());
  if (to.axis == 0) node.invalid("its axis must not be the batch dimension, 0");
  if (update->rank() != cache->rank())
    node.invalid("its update has rank ", update->rank(), " and its cache has rank ", cache->rank());
  for (int64_t i = 0; i < cache->rank(); ++i)
    if (i != to.axis)
      requireSize(node, update->shape()[i], str("elements in dimension ", i, " of its update"),
                  cache->shape()[i]);
  to.circular = node.choice("mode", "linear", {"linear", "circular"}) == 1;
  to.first = node.optionalInput(2);
  node.setOutput(writeRows(node, cache, update, to));
}

}  // namespace camshaft::onnx::importer
