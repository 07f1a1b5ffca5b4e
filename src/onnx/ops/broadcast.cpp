// Expand and Tile.
#include <algorithm>

#include "onnx/formula.h"
#include "onnx/ops/run_time_axes.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

// Sizes for every dimension that the output is declared to have, ones before those that there are.
Value* withDeclaredLength(const NodeImport& node, Value* sizes) {
  const std::optional<int64_t> rank = node.declaredRank(0);
  if (!rank || sizes->rank() != 1 || sizes->shape()[0].isConstant()) return sizes;
  const Dim& length = sizes->shape()[0];
  node.graph().require({SizeRelation::kAtLeast, *rank, length,
                        str("node '", node.name(), "' (Expand): its output is declared with "),
                        " dimensions and its shape has ", ""});
  PadAttrs ones;
  ones.begin = {*rank - length};
  ones.end = {0};
  return node.add(&ops::Pad, {sizes, node.scalar(sizes->dataType(), 1)}, std::move(ones));
}

// The broadcast of x with sizes known at run time only: a size of 1 leaves that of x.
Shape broadcastAtRunTime(const NodeImport& node, Value* x, Value* sizes) {
  // Tensors of a graph have a rank.
  if (sizes->rank() != 1 || !sizes->shape()[0].isConstant())
    node.unsupported("its shape ('", sizes->name,
                     "') has a length known at run time only, and so would be its output's rank: "
                     "give it a known length when exporting, or declare the output's shape");
  const int64_t length = node.rank(sizes->shape()[0].value()), rank = std::max(length, x->rank());
  Shape own(static_cast<size_t>(rank - x->rank()), Dim(1));
  own.insert(own.end(), x->shape().begin(), x->shape().end());
  Shape result(own.begin(), own.end() - length);
  Value* current = addDims(node.graph(), node.name(), {own.end() - length, own.end()});
  Formula formula;
  const Term wanted = cast(formula.input(0, sizes->dataType()), DataType::kI64);
  const Term size = where(wanted == 1, formula.input(1, DataType::kI64), wanted);
  const std::vector<Dim> merged = node.dims(node.pointwise({sizes, current}, formula.take(size)));
  for (int64_t i = 0; i < length; ++i) {
    const Dim& had = own[rank - length + i];
    const bool stays = had.isConstant() && !had.isConstant(1);
    result.push_back(stays ? had : merged[i]);
  }
  return result;
}

}  // namespace

void importExpand(NodeImport& node) {
  Value* x = node.input(0);
  Value* sizes = withDeclaredLength(node, node.input(1));
  if (!sizes->contents && !node.knownIntegers(sizes))
    return node.setOutput(node.expand(x, broadcastAtRunTime(node, x, sizes)));
  node.setOutput(node.expand(x, broadcastShape(node, x->shape(), node.dims(sizes))));
}

void importTile(NodeImport& node) {
  Value* x = node.input(0);
  TileAttrs attrs;
  attrs.repeats = node.dims(withLength(node, node.input(1), x->rank()));
  if (static_cast<int64_t>(attrs.repeats.size()) != x->rank())
    node.invalid("it has ", attrs.repeats.size(), " repeats for a tensor of rank ", x->rank());
  node.setOutput(node.add(&ops::Tile, {x}, std::move(attrs)));
}

// Opset 1: one repeat count along one axis, both tensors.
void importTile1(NodeImport& node) {
  Value* x = node.input(0);
  TileAttrs attrs;
  attrs.repeats.assign(static_cast<size_t>(x->rank()), Dim(1));
  const auto axis = node.knownIntegers(node.input(2));
  if (axis)
    attrs.repeats[node.axis(axis->at(0), x->rank())] = node.dims(1).at(0);
  else
    attrs.repeats = node.dims(spreadOverAxes(node, node.reshape(node.input(2), {1}),
                                             node.reshape(node.input(1), {1}), x->rank(), 1));
  node.setOutput(node.add(&ops::Tile, {x}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
