#include "api/layers/select.h"

#include <limits>

#include "ops/index.h"
#include "ops/move.h"
#include "ops/select.h"
#include "ops/shape.h"

namespace camshaft::api {

namespace {

// The results of a search, which counts them in its last output.
Value* resultsOf(Emission& at, const Node* search, const Dim& bound) {
  const Dim count =
      boundedSizes(at.graph, search->outputs.back(), {bound}, at.who(), at.before).front();
  return takeResults(at.graph, search->output(0), count, at.before);
}

}  // namespace

std::vector<Value*> NonZeroParams::emit(Emission& at) const {
  const DataType type = indicesTypeIn(at, indices);
  Value* x = at.input(0);
  if (x->rank() == 0) at.invalid("finds positions, which a scalar has none of");
  const Node* search = at.node(&ops::NonZero, {x}, NoAttrs{});
  Value* rows = resultsOf(at, search, numElements(x->shape()));
  return {at.cast(at.transpose(rows, {1, 0}), type)};
}

// Scores [batches, classes, boxes] of which all but the best of a batch are -inf.
Value* NMSParams::withinLimit(Emission& at, Value* scores) const {
  const Shape& shape = scores->shape();
  const Dim all = shape[1] * shape[2];
  if (all.isConstant() && all.value() <= topKLimit) return scores;
  TopKAttrs best;
  best.axis = 1;
  best.k = min(all, topKLimit);
  Value* flat = at.reshape(scores, {shape[0], all});
  const Node* top = at.node(&ops::TopK, {flat}, std::move(best));
  ExpandAttrs expand;
  expand.shape = flat->shape();
  Value* none = at.add(
      &ops::Expand, {at.scalar(DataType::kF32, -std::numeric_limits<double>::infinity())}, expand);
  ScatterElementsAttrs along;
  along.axis = 1;
  Value* kept =
      at.add(&ops::ScatterElements, {none, top->output(1), top->output(0)}, std::move(along));
  return at.reshape(kept, shape);
}

namespace {

Value* column(Emission& at, Value* rows, int64_t index) {
  SliceAttrs attrs;
  attrs.axes = {1};
  attrs.starts = {index};
  attrs.sizes = {1};
  attrs.steps = {1};
  return at.add(&ops::Slice, {rows}, std::move(attrs));
}

Value* gather(Emission& at, Value* x, Value* indices) {
  return at.add(&ops::Gather, {x, indices}, GatherAttrs{});
}

// The order that sorts a vector; what is equal stays in order.
Value* sorted(Emission& at, Value* vector, bool largestFirst) {
  TopKAttrs attrs;
  attrs.k = vector->shape()[0];
  attrs.largest = largestFirst;
  return at.node(&ops::TopK, {vector}, std::move(attrs))->output(1);
}

// Rows (batch, class, box), best first within a class, as best first within a batch.
Value* bestFirst(Emission& at, Value* rows, Value* scores) {
  if (scores->shape()[1].isConstant(1)) return rows;
  Value* byScore = sorted(at, at.add(&ops::GatherND, {scores, rows}, GatherNDAttrs{}), true);
  Value* ordered = gather(at, rows, byScore);
  if (scores->shape()[0].isConstant(1)) return ordered;
  Value* batches = at.reshape(column(at, ordered, 0), {ordered->shape()[0]});
  return gather(at, ordered, sorted(at, batches, false));
}

// Rows (batch * classes + class, 0, box) as rows (batch, class, box).
Value* splitRows(Emission& at, Value* rows, const Dim& classes) {
  Value* count = at.reshape(addDims(at.graph, at.name + ".classes", {classes}, at.before), {});
  Value* joint = column(at, rows, 0);
  const auto with = [&](ScalarOp op) {
    return addBinary(at.graph, op, at.name, joint, count, at.before);
  };
  ConcatAttrs attrs;
  attrs.axis = 1;
  return at.add(&ops::Concat,
                {with(ScalarOp::kFloorDiv), with(ScalarOp::kMod), column(at, rows, 2)},
                std::move(attrs));
}

}  // namespace

std::vector<Value*> NMSParams::emit(Emission& at) const {
  const DataType type = indicesTypeIn(at, indices);
  requireKnown(format, "bounding box format");
  if (topKLimit < 1) at.invalid("looks at ", topKLimit, " boxes; set a limit of at least 1");
  Value *boxes = at.cast(at.input(0), DataType::kF32), *given = at.input(1);
  if (given->rank() != 3 || (boxes->rank() != 3 && boxes->rank() != 4))
    at.invalid(
        "needs boxes [batches, boxes, 4] or [batches, boxes, classes, 4] and scores "
        "[batches, boxes, classes], and got ",
        boxes->type, " and ", given->type);
  Value* scores = at.transpose(at.cast(given, DataType::kF32), {0, 2, 1});
  scores = withinLimit(at, scores);
  const Shape shape = scores->shape();

  const std::vector<Dim> most = at.dims(2);
  if (most.size() != 1) at.invalid("needs one number of boxes per class and got ", most.size());
  NonMaxSuppressionAttrs attrs;
  attrs.limit = most[0].isConstant() ? Dim(std::max<int64_t>(most[0].value(), 0)) : most[0];
  attrs.centred = format == nvinfer1::BoundingBoxFormat::kCENTER_SIZES;
  const auto threshold = [&](size_t i) {
    return at.has(i) ? at.reshape(at.cast(at.input(i), DataType::kF32), {})
                     : at.scalar(DataType::kF32, 0);
  };
  // Boxes of its own for each class: every class is a batch.
  const bool perClass = boxes->rank() == 4;
  if (perClass) {
    boxes = at.transpose(boxes, {0, 2, 1, 3});
    const Shape& apart = boxes->shape();
    boxes = at.reshape(boxes, {apart[0] * apart[1], apart[2], apart[3]});
  }
  Value* searched = perClass ? at.reshape(scores, {shape[0] * shape[1], 1, shape[2]}) : scores;
  const Node* search =
      at.node(&ops::NonMaxSuppression, {boxes, searched, threshold(3), threshold(4)}, attrs);
  Value* rows = resultsOf(at, search, search->output(0)->shape()[0]);
  if (perClass) rows = splitRows(at, rows, shape[1]);
  Value* count = at.cast(at.reshape(search->outputs.back(), {}), DataType::kI32);
  return {at.cast(bestFirst(at, rows, scores), type), count};
}

}  // namespace camshaft::api
