#include "onnx/ops/tensorrt/detections.h"

#include <cmath>
#include <limits>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/tensorrt/boxes.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/select.h"

namespace camshaft::onnx::importer {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kFiller = std::numeric_limits<float>::lowest();  // below all but kNever

Value* gather(const NodeImport& node, Value* x, Value* indices) {
  return node.add(&ops::Gather, {x, indices}, GatherAttrs{});
}

Value* flat(const NodeImport& node, Value* x) { return node.reshape(x, {numElements(x->shape())}); }

// What the search for boxes sees, and what its results (list, row, place) mean: boxes
// [lists, places, 4] and scores [lists, rows, places].
struct Lists {
  Value *boxes, *overlap, *scores;
  Value* bestClass = nullptr;                     // i64 [lists, places], where there is one
  enum { kRow, kList, kPlace, kBest } classFrom;  // what tells the class of a result
  Dim classes;
};

// [N, B, C, 4] as a list for every class of every image.
Value* listPerClass(const NodeImport& node, Value* boxes) {
  if (!boxes) return nullptr;
  const Shape& s = boxes->shape();
  return node.reshape(node.transpose(boxes, {0, 2, 1, 3}), {s[0] * s[2], s[1], 4});
}

// A box with several classes is compared with itself: its best class stays, where the box has an
// area. So where classes share boxes and are compared, the best class alone is looked at.
Lists listsOf(const NodeImport& node, const Candidates& candidates, Value* scores, bool agnostic) {
  const Shape& shape = scores->shape();
  const Dim &images = shape[0], &boxes = shape[1], &classes = shape[2];
  const bool isShared = candidates.boxes->rank() == 3;
  Lists lists{candidates.boxes, candidates.overlap, nullptr, nullptr, Lists::kRow, classes};
  if (isShared && agnostic) {
    ArgReduceAttrs best;
    best.axis = 2;
    best.keepDims = false;
    lists.classFrom = Lists::kBest;
    lists.bestClass = node.add(&ops::ArgReduce, {scores}, best);
    lists.scores =
        node.reshape(reduce(node, ReduceKind::kMax, scores, {2}, false), {images, 1, boxes});
  } else if (isShared) {
    lists.scores = node.transpose(scores, {0, 2, 1});
  } else if (agnostic) {
    lists.classFrom = Lists::kPlace;
    const Dim pairs = boxes * classes;
    lists.boxes = node.reshape(lists.boxes, {images, pairs, 4});
    if (lists.overlap) lists.overlap = node.reshape(lists.overlap, {images, pairs, 4});
    lists.scores = node.reshape(scores, {images, 1, pairs});
  } else {
    lists.classFrom = Lists::kList;
    lists.boxes = listPerClass(node, lists.boxes);
    lists.overlap = listPerClass(node, lists.overlap);
    lists.scores = node.reshape(node.transpose(scores, {0, 2, 1}), {images * classes, 1, boxes});
  }
  return lists;
}

Value* withoutClass(const NodeImport& node, Value* scores, const Dim& which) {
  if (!which.isConstant() || which.value() < 0) return scores;
  Formula formula;
  const Term isIt = formula.input(1, DataType::kI64) == static_cast<double>(which.value());
  const Term result = where(isIt, kNever, formula.input(0, DataType::kF32));
  return node.pointwise({scores, counting(node, DataType::kI64, scores->shape()[2])},
                        formula.take(result));
}

// Of every class of every image the best `count` scores, the others at nothing.
Value* bestScores(const NodeImport& node, Value* scores, int64_t count) {
  const Dim& boxes = scores->shape()[1];
  if (count == 0 || (boxes.isConstant() && boxes.value() <= count)) return scores;
  TopKAttrs attrs;
  attrs.axis = 1;
  attrs.k = min(count, boxes);
  const Node* top = node.addNode(&ops::TopK, {scores}, attrs);
  Value* least = node.slice(top->output(0), 1, attrs.k - 1, 1);
  Formula formula;
  const Term score = formula.input(0, DataType::kF32);
  const Term result = where(score < formula.input(1, DataType::kF32), kNever, score);
  return node.pointwise({scores, least}, formula.take(result));
}

// Results in the order in which they were found, class by class.
struct Rows {
  Value *image, *kind, *box, *score;  // [R], [R], [R, 4], [R]
};

// a * size + b
Value* place(const NodeImport& node, Value* a, const Dim& size, Value* b) {
  return node.binary(ScalarOp::kAdd, node.binary(ScalarOp::kMul, a, sizeTensor(node, size)), b);
}

Rows search(const NodeImport& node, const Lists& lists, const Suppression& suppression) {
  NonMaxSuppressionAttrs attrs;
  attrs.limit = min(suppression.perClass, suppression.results);
  const Node* search = node.addNode(&ops::NonMaxSuppression,
                                    {lists.overlap ? lists.overlap : lists.boxes, lists.scores,
                                     node.scalar(DataType::kF32, suppression.iouThreshold),
                                     node.scalar(DataType::kF32, suppression.scoreThreshold)},
                                    std::move(attrs));
  // What lies behind the count is unspecified, and becomes the first box with a score of never.
  const Dim most = search->output(0)->shape()[0];
  Value* index = counting(node, DataType::kI64, most);
  const auto column = [&](int64_t i) {
    Formula formula;
    const Term isFound = formula.input(1, DataType::kI64) < formula.input(2, DataType::kI64);
    const Term result = where(isFound, formula.input(0, DataType::kI64), 0);
    Value* all = node.reshape(node.slice(search->output(0), 1, i, 1), {most});
    return node.pointwise({all, index, search->output(1)}, formula.take(result));
  };
  Value *list = column(0), *row = column(1), *at = column(2);
  const Shape& shape = lists.scores->shape();
  Value* box = place(node, list, shape[2], at);
  Value* score = place(node, place(node, list, shape[1], row), shape[2], at);
  Rows rows{list, row, gather(node, node.reshape(lists.boxes, {shape[0] * shape[2], 4}), box),
            gather(node, flat(node, lists.scores), score)};
  Formula formula;
  const Term isFound = formula.input(1, DataType::kI64) < formula.input(2, DataType::kI64);
  const Term result = where(isFound, formula.input(0, DataType::kF32), kNever);
  rows.score = node.pointwise({rows.score, index, search->output(1)}, formula.take(result));
  Value* classes = sizeTensor(node, lists.classes);
  if (lists.classFrom == Lists::kBest) rows.kind = gather(node, flat(node, lists.bestClass), box);
  if (lists.classFrom == Lists::kPlace) rows.kind = node.binary(ScalarOp::kMod, at, classes);
  if (lists.classFrom == Lists::kList) {
    rows.image = node.binary(ScalarOp::kDiv, list, classes);
    rows.kind = node.binary(ScalarOp::kMod, list, classes);
  }
  return rows;
}

// Per image the best rows, and fillers behind the last that is the image's.
Detections best(const NodeImport& node, const Rows& rows, const Dim& images,
                const Suppression& suppression) {
  const Dim& results = suppression.results;
  Formula formula;
  const Term isOwn = formula.input(1, DataType::kI64) == formula.input(2, DataType::kI64);
  const Term own = where(isOwn, formula.input(0, DataType::kF32), kNever);
  Value* image = node.reshape(counting(node, DataType::kI64, images), {images, 1});
  Value* scores = node.pointwise({rows.score, rows.image, image}, formula.take(own));
  const auto filler = [&](DataType type, double value, Shape shape) {
    return node.expand(node.scalar(type, value), std::move(shape));
  };
  scores = node.concat({scores, filler(DataType::kF32, kFiller, {images, results})}, 1);
  TopKAttrs attrs;
  attrs.axis = 1;
  attrs.k = results;
  const Node* top = node.addNode(&ops::TopK, {scores}, std::move(attrs));
  const auto chosen = [&](Value* all, double missing) {
    Shape shape = all->shape();
    shape[0] = results;
    Value* filled = node.concat({all, filler(all->dataType(), missing, std::move(shape))}, 0);
    return gather(node, filled, top->output(1));
  };
  Detections found{};
  found.isFound = node.binary(ScalarOp::kGreater, top->output(0), kFiller);
  found.counts =
      node.cast(reduce(node, ReduceKind::kSum, node.cast(found.isFound, DataType::kF32), {1}),
                DataType::kI32);
  found.boxes = chosen(rows.box, 0);
  found.scores = chosen(rows.score, 0);
  found.classes = chosen(rows.kind, suppression.noClass);
  return found;
}

}  // namespace

float atLeastThreshold(double threshold) {
  return std::nextafter(static_cast<float>(threshold), -std::numeric_limits<float>::infinity());
}

Detections detect(const NodeImport& node, const Candidates& candidates,
                  const Suppression& suppression) {
  const Shape& shape = candidates.scores->shape();
  Value* scores = bestScores(node, candidates.scores, suppression.candidates);
  scores = withoutClass(node, scores, suppression.background);
  const Lists lists = listsOf(node, candidates, scores, suppression.agnostic);
  return best(node, search(node, lists, suppression), shape[0], suppression);
}

Value* propose(const NodeImport& node, Value* boxes, Value* scores, const Dim& before,
               int64_t after, double iouThreshold) {
  const Dim images = scores->shape()[0];
  TopKAttrs attrs;
  attrs.axis = 1;
  attrs.k = min(before, scores->shape()[1]);
  const Dim count = attrs.k;
  Value* order = node.addNode(&ops::TopK, {scores}, std::move(attrs))->output(1);
  GatherElementsAttrs along;
  along.axis = 1;
  order = node.expand(node.reshape(order, {images, count, 1}), {images, count, 4});
  // Their places stand for their scores, which may be minus infinity.
  Value* places = node.binary(ScalarOp::kSub, node.cast(sizeTensor(node, count), DataType::kF32),
                              counting(node, DataType::kF32, count));
  Candidates candidates{};
  candidates.boxes = node.add(&ops::GatherElements, {boxes, order}, along);
  candidates.overlap = withLastPixel(node, candidates.boxes);
  candidates.scores = node.expand(node.reshape(places, {1, count, 1}), {images, count, 1});
  Suppression suppression;
  suppression.iouThreshold = static_cast<float>(iouThreshold);
  suppression.results = suppression.perClass = after;
  return detect(node, candidates, suppression).boxes;
}

}  // namespace camshaft::onnx::importer
