// TensorScatter: rows written into a cache, from a position of each batch's own.
#include "onnx/ops/range.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

void importTensorScatter(NodeImport& node) {
  Value *cache = node.input(0), *update = node.input(1);
  const int64_t axis = node.axisAttribute("axis", -2, cache->rank());
  if (axis == 0) node.invalid("its axis must not be the batch dimension, 0");
  if (update->rank() != cache->rank())
    node.invalid("its update has rank ", update->rank(), " and its cache has rank ", cache->rank());
  for (int64_t i = 0; i < cache->rank(); ++i)
    if (i != axis)
      requireSize(node, update->shape()[i], str("elements in dimension ", i, " of its update"),
                  cache->shape()[i]);
  const bool circular = node.choice("mode", "linear", {"linear", "circular"}) == 1;

  // Of every row of the update, the coordinates in the cache: its own but for the last, which is
  // moved.
  Shape rows(update->shape().begin(), update->shape().begin() + axis + 1);
  rows.push_back(1);
  std::vector<Value*> coordinates;
  for (int64_t i = 0; i <= axis; ++i) {
    Shape line(axis + 2, Dim(1));
    line[i] = rows[i];
    Value* own = node.reshape(counting(node, DataType::kI64, rows[i]), line);
    if (i == axis && node.hasInput(2)) {
      Shape batches(axis + 2, Dim(1));
      batches[0] = rows[0];
      own = node.binary(ScalarOp::kAdd, own, node.reshape(node.input(2), batches));
    }
    if (i == axis && circular)
      own = node.binary(ScalarOp::kMod, own, sizeTensor(node, cache->shape()[axis]));
    coordinates.push_back(node.expand(own, rows));
  }
  ConcatAttrs side;
  side.axis = axis + 1;
  Value* places = node.add(&ops::Concat, std::move(coordinates), side);
  node.setOutput(node.add(&ops::ScatterND, {cache, places, update}, ScatterNDAttrs{}));
}

}  // namespace camshaft::onnx::importer
