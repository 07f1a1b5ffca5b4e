// Expand and Tile.
#include "onnx/node_import.h"
#include "ops/move.h"
#include "ops/pointwise.h"

namespace camshaft::onnx::importer {

void importExpand(NodeImport& node) {
  Value* x = node.input(0);
  node.setOutput(
      node.expand(x, broadcastShapes(x->shape(), node.dims(1), str("node '", node.name(), "'"))));
}

void importTile(NodeImport& node) {
  Value* x = node.input(0);
  TileAttrs attrs;
  attrs.repeats = node.dims(1);
  if (static_cast<int64_t>(attrs.repeats.size()) != x->rank())
    node.invalid("it has ", attrs.repeats.size(), " repeats for a tensor of rank ", x->rank());
  node.setOutput(node.add(&ops::Tile, {x}, std::move(attrs)));
}

// Opset 1: one repeat count along one axis, both tensors.
void importTile1(NodeImport& node) {
  Value* x = node.input(0);
  TileAttrs attrs;
  attrs.repeats.assign(static_cast<size_t>(x->rank()), Dim(1));
  attrs.repeats[node.axis(node.constantIntegers(2, "axis").at(0), x->rank())] = node.dims(1).at(0);
  node.setOutput(node.add(&ops::Tile, {x}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
