// Operators whose results are as many as the data decides: NonZero, Compress, Unique and
// NonMaxSuppression.
#include "ops/select.h"

#include "onnx/size.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

// How many results a node counted, as a dimension.
Dim countIn(const NodeImport& node, const Node* search, const Dim& bound) {
  return boundedSizes(node.graph(), search->outputs.back(), {bound}, node.name()).front();
}

// Indices of what is not zero: i64[n, rank].
Value* positionsOf(const NodeImport& node, Value* x) {
  const Node* search = nullptr;  // one mask often selects from several tensors, of one size then
  for (const Node* user : x->users)
    if (user->op == &ops::NonZero) search = user;
  if (!search) search = node.addNode(&ops::NonZero, {x}, NoAttrs{});
  const Dim count = countIn(node, search, numElements(x->shape()));
  return takeResults(node.graph(), search->output(0), count);
}

Value* gather(const NodeImport& node, Value* x, Value* indices, int64_t axis) {
  GatherAttrs attrs;
  attrs.axis = axis;
  return node.add(&ops::Gather, {x, indices}, attrs);
}

// Without an axis the operators below work on all elements in a row.
struct AlongAxis {
  Value* x;
  int64_t axis;
};
AlongAxis alongAxis(const NodeImport& node) {
  Value* x = node.input(0);
  if (node.has("axis")) return {x, node.axisAttribute("axis", 0, x->rank())};
  return {node.reshape(x, {numElements(x->shape())}), 0};
}

}  // namespace

void importNonZero(NodeImport& node) {
  node.setOutput(node.transpose(positionsOf(node, node.input(0)), {1, 0}));
}

// Conditions may be fewer or more than there are elements; those beyond either end count nothing.
void importCompress(NodeImport& node) {
  const auto [x, axis] = alongAxis(node);
  Value* condition = node.input(1, 1);
  const Dim given = condition->shape()[0],
            used = atMost(node.inputSizes(), given, x->shape()[axis]);
  if (!(used == given)) {
    SliceAttrs attrs;
    attrs.axes = {0};
    attrs.starts = {0};
    attrs.sizes = {used};
    attrs.steps = {1};
    condition = node.add(&ops::Slice, {condition}, std::move(attrs));
  }
  Value* positions = positionsOf(node, condition);
  node.setOutput(gather(node, x, node.reshape(positions, {positions->shape()[0]}), axis));
}

void importUnique(NodeImport& node) {
  const auto [x, axis] = alongAxis(node);
  UniqueAttrs attrs;
  attrs.axis = axis;
  attrs.sorted = node.flag("sorted", true);
  const Node* search = node.addNode(&ops::Unique, {x}, attrs);
  const Dim count = countIn(node, search, x->shape()[axis]);
  Value* firsts = takeResults(node.graph(), search->output(0), count);
  node.setOutput(0, gather(node, x, firsts, axis));
  if (node.wants(1)) node.setOutput(1, firsts);
  if (node.wants(2)) node.setOutput(2, search->output(1));
  if (node.wants(3)) node.setOutput(3, takeResults(node.graph(), search->output(2), count));
}

namespace {

// Boxes per class and batch at most: none when it is left out, as ONNX has it.
Dim limitOf(const NodeImport& node) {
  if (!node.hasInput(2)) return 0;
  Value* given = node.input(2);
  if (const auto known = node.knownIntegers(given)) return std::max<int64_t>(known->at(0), 0);
  Value* limit = node.binary(ScalarOp::kMax, given, 0.0);  // sizes are never negative
  return node.dims(node.reshape(limit, {1})).at(0);
}

}  // namespace

void importNonMaxSuppression(NodeImport& node) {
  NonMaxSuppressionAttrs attrs;
  attrs.limit = limitOf(node);
  attrs.centred = node.flag("center_point_box");
  const auto threshold = [&](int i) {
    return node.hasInput(i) ? node.reshape(node.input(i), {}) : nullptr;
  };
  const Node* search = node.addNode(
      &ops::NonMaxSuppression, {node.input(0, 3), node.input(1, 3), threshold(3), threshold(4)},
      std::move(attrs));
  const Dim count = countIn(node, search, search->output(0)->shape()[0]);
  node.setOutput(takeResults(node.graph(), search->output(0), count));
}

}  // namespace camshaft::onnx::importer
