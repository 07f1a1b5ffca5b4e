// PointPillars: points of a cloud in pillars, pillars as a picture, and boxes of what was found.
#include <cmath>
#include <numbers>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

namespace {

// Rows [R, columns] at their places, i64 [R], of `size` rows, the others zero. Rows whose place is
// `size` are left out; no other place may have two.
Value* scatteredRows(const NodeImport& node, Value* rows, Value* places, const Dim& size) {
  const Shape& shape = rows->shape();
  Value* empty = node.expand(node.scalar(rows->dataType(), 0), {size + 1, shape[1]});
  Value* all = node.add(&ops::ScatterND, {empty, node.reshape(places, {shape[0], 1}), rows},
                        ScatterNDAttrs{});
  return node.slice(all, 0, 0, size);
}

// How many are true before each along dimension 1, of bool [N, M] as i64.
Value* rankOf(const NodeImport& node, Value* isCounted) {
  CumSumAttrs attrs;
  attrs.axis = 1;
  attrs.exclusive = true;
  return node.add(&ops::CumSum, {node.cast(isCounted, DataType::kI64)}, attrs);
}

// i64 [N, 1]
Value* countOf(const NodeImport& node, Value* isCounted) {
  return reduce(node, ReduceKind::kSum, node.cast(isCounted, DataType::kI64), {1});
}

// The number of each image times `size`, i64 [N, 1].
Value* imageOffsets(const NodeImport& node, const Dim& images, const Dim& size) {
  Value* image = node.reshape(counting(node, DataType::kI64, images), {images, 1});
  return node.binary(ScalarOp::kMul, image, sizeTensor(node, size));
}

}  // namespace

// Features [N, P, C] of pillars, whose cells are (frame, z, y, x), and how many there are, to
// [N, C, H, W].
void importPillarScatter(NodeImport& node) {
  Value *features = node.input(0, 3), *cells = node.input(1, 3);
  const Shape& shape = features->shape();
  const Dim images = shape[0], pillars = shape[1], channels = shape[2];
  requireShape(node, cells, "list of cells", {images, pillars, 4});
  requireSize(node, numElements(node.input(2)->shape()), "counts", images);
  const std::vector<int64_t> size = integersIn(node, "dense_shape", {});
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    node.invalid("its field 'dense_shape' must hold height and width");
  const Dim all = images * (size[0] * size[1]);
  const auto coordinate = [&](int64_t i) {
    Value* one = node.reshape(node.slice(cells, 2, i, 1), {images, pillars});
    return node.cast(one, DataType::kI64);
  };
  Formula formula;
  const Term y = formula.input(0, DataType::kI64), x = formula.input(1, DataType::kI64);
  const auto rows = static_cast<double>(size[0]), columns = static_cast<double>(size[1]);
  const Term isInside = (y >= 0) && (y < rows) && (x >= 0) && (x < columns);
  const Term isThere = formula.input(2, DataType::kI64) < formula.input(3, DataType::kI64);
  const Term place = formula.input(4, DataType::kI64) + y * columns + x;
  const Term result = where(isInside && isThere, place, formula.input(5, DataType::kI64));
  Value* counts = node.cast(node.reshape(node.input(2), {images, 1}), DataType::kI64);
  Value* places =
      node.pointwise({coordinate(2), coordinate(3), counting(node, DataType::kI64, pillars), counts,
                      imageOffsets(node, images, size[0] * size[1]), sizeTensor(node, all)},
                     formula.take(result));
  Value* list = node.reshape(features, {images * pillars, channels});
  Value* dense = scatteredRows(node, list, node.reshape(places, {images * pillars}), all);
  dense = node.reshape(dense, {images, size[0], size[1], channels});
  node.setOutput(node.transpose(dense, {0, 3, 1, 2}));
}

namespace {

struct Cloud {
  std::vector<double> range, voxel;  // least and most x, y, z; the size of a voxel
  int64_t columns, rows;
};

Cloud cloudIn(const NodeImport& node) {
  Cloud cloud{numbersIn(node, "point_cloud_range", 6), numbersIn(node, "voxel_size", 3), 0, 0};
  const auto cells = [&](size_t i) {
    const double count = (cloud.range[i + 3] - cloud.range[i]) / cloud.voxel[i];
    if (!(count >= 1 && count < 0x1p24))
      node.invalid("its fields 'point_cloud_range' and 'voxel_size' make ", count, " voxels");
    return static_cast<int64_t>(std::nearbyint(count));
  };
  cloud.columns = cells(0);
  cloud.rows = cells(1);
  return cloud;
}

// Where the points of a cloud, [N, M, C], belong: all [N, M], in the order of their cells.
struct Sorted {
  Value *order, *cell;  // i64; points of no cell come last, with a cell of `columns * rows`
};

Value* columnOf(const NodeImport& node, Value* points, int64_t i) {
  const Shape& shape = points->shape();
  return node.reshape(node.slice(points, 2, i, 1), {shape[0], shape[1]});
}

Sorted sortedPoints(const NodeImport& node, Value* points, Value* counts, const Cloud& cloud) {
  const Dim& most = points->shape()[1];
  Formula formula;
  const auto cell = [&](int i) {
    const auto at = static_cast<size_t>(i);
    const Term place = (formula.input(i, DataType::kF32) - cloud.range[at]) / cloud.voxel[at];
    return cast(apply(ScalarOp::kFloor, place), DataType::kI64);
  };
  const auto isInside = [&](int i) {
    const Term place = formula.input(i, DataType::kF32);
    const auto at = static_cast<size_t>(i);
    return (place >= cloud.range[at]) && (place < cloud.range[at + 3]);
  };
  const auto columns = static_cast<double>(cloud.columns), rows = static_cast<double>(cloud.rows);
  const Term x = cell(0), y = cell(1);
  const Term isThere = formula.input(3, DataType::kI64) < formula.input(4, DataType::kI64);
  const Term inRange = isInside(0) && isInside(1) && isInside(2);
  const Term inGrid = isThere && inRange && (x < columns) && (y < rows);
  const Term result = where(inGrid, y * columns + x, columns * rows);
  Value* cells =
      node.pointwise({columnOf(node, points, 0), columnOf(node, points, 1),
                      columnOf(node, points, 2), counting(node, DataType::kI64, most), counts},
                     formula.take(result));
  TopKAttrs attrs;
  attrs.axis = 1;
  attrs.k = most;
  attrs.largest = false;
  const Node* sorted = node.addNode(&ops::TopK, {cells}, std::move(attrs));
  return {sorted->output(1), sorted->output(0)};
}

// Which voxel each sorted point is of, and the how manieth of its points it is; i64 [N, M].
struct Membership {
  Value *voxel, *point;
  Value* isFirst;  // bool
};

Membership membershipOf(const NodeImport& node, Value* cell, int64_t noCell) {
  const Shape& shape = cell->shape();
  const Dim images = shape[0], most = shape[1];
  Value* before = node.expand(node.scalar(DataType::kI64, -1), {images, 1});
  before = node.slice(node.concat({before, cell}, 1), 1, 0, most);
  Formula formula;
  const Term own = formula.input(0, DataType::kI64);
  const Term isFirst =
      (own != formula.input(1, DataType::kI64)) && (own != static_cast<double>(noCell));
  Value* first = node.pointwise({cell, before}, formula.take(isFirst));
  CumSumAttrs sum;
  sum.axis = 1;
  Value* voxel = node.add(&ops::CumSum, {node.cast(first, DataType::kI64)}, sum);
  voxel = node.binary(ScalarOp::kMax, node.binary(ScalarOp::kSub, voxel, 1.0), 0.0);
  // Where each voxel begins: the least place of its points.
  Value* place = node.expand(counting(node, DataType::kI64, most), shape);
  ScatterElementsAttrs least;
  least.axis = 1;
  least.reduction = ScatterReduction::kMin;
  Value* begin = node.expand(sizeTensor(node, most), shape);
  begin = node.add(&ops::ScatterElements, {begin, voxel, place}, least);
  GatherElementsAttrs along;
  along.axis = 1;
  begin = node.add(&ops::GatherElements, {begin, voxel}, along);
  return {voxel, node.binary(ScalarOp::kSub, place, begin), first};
}

// Points [N, V, P, C] and what else is known of their voxel: how far each is from the mean of the
// voxel's points, and from its middle.
Value* pillarFeatures(const NodeImport& node, Value* points, Value* isPoint, Value* middle) {
  Value* places = node.slice(points, 3, 0, 3);
  Value* sum = reduce(node, ReduceKind::kSum, places, {2});
  Value* count = node.binary(ScalarOp::kMax, reduce(node, ReduceKind::kSum, isPoint, {2}), 1.0);
  Value* fromMean = node.binary(ScalarOp::kSub, places, node.binary(ScalarOp::kDiv, sum, count));
  Value* fromMiddle = node.binary(ScalarOp::kSub, places, middle);
  Value* all = node.concat({points, fromMean, fromMiddle}, 3);
  return node.binary(ScalarOp::kMul, all, isPoint);
}

}  // namespace

// Points [N, M, C] and how many there are to voxels [N, max_voxels, max_num_points_per_voxel,
// voxel_feature_num], their cells [N, max_voxels, 4] and how many there are. Voxels are in the
// order of their cells, and points in theirs, where TensorRT's come as its threads do.
void importVoxelGenerator(NodeImport& node) {
  const Cloud cloud = cloudIn(node);
  Value* points = node.input(0, 3);
  const Dim images = points->shape()[0], most = points->shape()[1];
  requireSize(node, numElements(node.input(1)->shape()), "counts", images);
  if (!points->shape()[2].isConstant() || points->shape()[2].value() < 3)
    node.unsupported("its points ", points->type, " must have 3 numbers or more");
  const int64_t columns = points->shape()[2].value();
  const int64_t voxels = positiveIn(node, "max_voxels", 0);
  const int64_t perVoxel = positiveIn(node, "max_num_points_per_voxel", 0);
  const int64_t features = positiveIn(node, "voxel_feature_num", 0);
  if (features > columns + 6)
    node.invalid("its voxel_feature_num is ", features, ", where points of ", columns,
                 " numbers have ", columns + 6, " features");
  Value* counts = node.cast(node.reshape(node.input(1), {images, 1}), DataType::kI64);
  const Sorted sorted = sortedPoints(node, points, counts, cloud);
  const int64_t noCell = cloud.columns * cloud.rows;
  const Membership members = membershipOf(node, sorted.cell, noCell);

  // Each point with a one, and its cell's column and row, at its place in its voxel.
  GatherElementsAttrs along;
  along.axis = 1;
  const Shape shape{images, most, columns};
  Value* order = node.expand(node.reshape(sorted.order, {images, most, 1}), shape);
  Value* cell = node.reshape(sorted.cell, {images, most, 1});
  const auto gridColumns = static_cast<double>(cloud.columns);
  Value* rows =
      node.concat({node.add(&ops::GatherElements, {points, order}, along),
                   node.expand(node.scalar(DataType::kF32, 1), {images, most, 1}),
                   node.cast(node.binary(ScalarOp::kMod, cell, gridColumns), DataType::kF32),
                   node.cast(node.binary(ScalarOp::kDiv, cell, gridColumns), DataType::kF32)},
                  2);
  const Dim slots = images * (voxels * perVoxel);
  Formula formula;
  const Term voxel = formula.input(0, DataType::kI64), point = formula.input(1, DataType::kI64);
  const Term isTaken = (formula.input(2, DataType::kI64) < static_cast<double>(noCell)) &&
                       (voxel < static_cast<double>(voxels)) &&
                       (point < static_cast<double>(perVoxel));
  const Term place =
      formula.input(3, DataType::kI64) + voxel * static_cast<double>(perVoxel) + point;
  const Term result = where(isTaken, place, formula.input(4, DataType::kI64));
  Value* places =
      node.pointwise({members.voxel, members.point, sorted.cell,
                      imageOffsets(node, images, voxels * perVoxel), sizeTensor(node, slots)},
                     formula.take(result));
  Value* dense = scatteredRows(node, node.reshape(rows, {images * most, columns + 3}),
                               node.reshape(places, {images * most}), slots);
  dense = node.reshape(dense, {images, voxels, perVoxel, columns + 3});

  Value* cells = node.slice(node.slice(dense, 3, columns + 1, 2), 2, 0, 1);  // x, y
  Value* layer = node.expand(node.scalar(DataType::kF32, 0), {images, voxels, 1, 1});
  std::vector<double> first;  // the middle of the first voxel
  for (size_t i = 0; i < 3; ++i) first.push_back(cloud.range[i] + cloud.voxel[i] / 2);
  Value* middle = node.binary(ScalarOp::kMul, node.concat({cells, layer}, 3),
                              constantOf(node, cloud.voxel, {3}));
  middle = node.binary(ScalarOp::kAdd, middle, constantOf(node, first, {3}));
  Value* all = pillarFeatures(node, node.slice(dense, 3, 0, columns),
                              node.slice(dense, 3, columns, 1), middle);
  node.setOutput(0, node.slice(all, 3, 0, features));
  const DataType integer = node.input(1)->dataType();
  Value* coordinates =
      node.concat({layer, layer, node.slice(cells, 3, 1, 1), node.slice(cells, 3, 0, 1)}, 3);
  node.setOutput(1, node.cast(node.reshape(coordinates, {images, voxels, 4}), integer));
  Value* found =
      node.binary(ScalarOp::kMin, countOf(node, members.isFirst), static_cast<double>(voxels));
  node.setOutput(2, node.cast(node.reshape(found, {images}), integer));
}

namespace {

// The numbers of each anchor, [1, 1, 1, anchors, 1].
Value* perAnchor(const NodeImport& node, const std::vector<double>& numbers) {
  return constantOf(node, numbers, {1, 1, 1, static_cast<int64_t>(numbers.size()), 1});
}

// From the least to the most over `cells`, along a dimension of [N, H, W, anchors, 1].
Value* placesBetween(const NodeImport& node, double least, double most, const Dim& cells,
                     Shape along) {
  Formula formula;
  const Term last = larger(cast(formula.input(1, DataType::kI64) - 1, DataType::kF32), 1);
  const Term place = formula.input(0, DataType::kF32) * (most - least) / last + least;
  Value* line = node.pointwise({counting(node, DataType::kF32, cells), sizeTensor(node, cells)},
                               formula.take(place));
  return node.reshape(line, std::move(along));
}

}  // namespace

// Scores [N, H, W, A * classes], corrections [N, H, W, A * 7] and directions [N, H, W, A * 2] to
// boxes (x, y, z, dx, dy, dz, rotation, class, score), those at or above the threshold before
// zeros, and how many they are.
void importDecodeBox3D(NodeImport& node) {
  const auto heights = numbersIn(node, "anchor_bottom_height").value_or(std::vector<double>());
  if (heights.empty()) node.invalid("it lacks its required field 'anchor_bottom_height'");
  const auto classes = static_cast<int64_t>(heights.size()), anchors = 2 * classes;
  const auto sizes = numbersIn(node, "anchors", static_cast<size_t>(4 * anchors));
  const std::vector<double> range = numbersIn(node, "point_cloud_range", 6);
  Value *scores = node.input(0, 4), *corrections = node.input(1, 4), *turns = node.input(2, 4);
  const Dim images = scores->shape()[0], rows = scores->shape()[1], columns = scores->shape()[2];
  const auto perBox = [&](Value* x, int64_t numbers) {
    requireShape(node, x, "map", {images, rows, columns, anchors * numbers});
    return node.reshape(x, {images, rows, columns, anchors, numbers});
  };
  scores = node.unary(ScalarOp::kSigmoid, perBox(scores, classes));
  corrections = perBox(corrections, 7);
  turns = perBox(turns, 2);
  std::vector<double> width, depth, height, angle, middle, diagonal;
  for (size_t i = 0; i < static_cast<size_t>(anchors); ++i) {
    width.push_back(sizes[4 * i]);
    depth.push_back(sizes[4 * i + 1]);
    height.push_back(sizes[4 * i + 2]);
    angle.push_back(sizes[4 * i + 3]);
    middle.push_back(height.back() / 2 + heights[i / 2]);
    diagonal.push_back(std::hypot(width.back(), depth.back()));
  }
  const auto correction = [&](int64_t i) { return node.slice(corrections, 4, i, 1); };
  const auto moved = [&](int64_t i, const std::vector<double>& by, Value* from) {
    return node.binary(ScalarOp::kAdd,
                       node.binary(ScalarOp::kMul, correction(i), perAnchor(node, by)), from);
  };
  const auto grown = [&](int64_t i, const std::vector<double>& size) {
    return node.binary(ScalarOp::kMul, node.unary(ScalarOp::kExp, correction(i)),
                       perAnchor(node, size));
  };
  Value* x = placesBetween(node, range[0], range[3], columns, {1, 1, columns, 1, 1});
  Value* y = placesBetween(node, range[1], range[4], rows, {1, rows, 1, 1, 1});
  // Of the two directions the one that scores more says which half of the circle it is.
  const auto bins = static_cast<double>(positiveIn(node, "num_dir_bins", 2));
  const double period = 2 * std::numbers::pi / bins;
  const double offset = numberIn(node, "dir_offset", 0);
  Formula formula;
  const Term turned = formula.input(0, DataType::kF32) + formula.input(1, DataType::kF32) - offset;
  const Term full =
      apply(ScalarOp::kFloor, turned / period + numberIn(node, "dir_limit_offset", 0)) * period;
  const Term isFirst = formula.input(2, DataType::kF32) > formula.input(3, DataType::kF32);
  const Term half = where(isFirst, 0.0, formula.number(period, DataType::kF32));
  const Term rotation = turned - full + offset + half;
  Value* turn = node.pointwise({correction(6), perAnchor(node, angle), node.slice(turns, 4, 0, 1),
                                node.slice(turns, 4, 1, 1)},
                               formula.take(rotation));
  ArgReduceAttrs best;
  best.axis = 4;
  Value* kind = node.cast(node.add(&ops::ArgReduce, {scores}, best), DataType::kF32);
  Value* score = reduce(node, ReduceKind::kMax, scores, {4});
  Value* boxes = node.concat(
      {moved(0, diagonal, x), moved(1, diagonal, y), moved(2, height, perAnchor(node, middle)),
       grown(3, width), grown(4, depth), grown(5, height), turn, kind, score},
      4);
  const Dim count = rows * columns * anchors, all = images * count;
  const double threshold = numberIn(node, "score_thresh", 0);
  Value* isFound = node.binary(ScalarOp::kGreaterEqual, node.reshape(score, {images, count}),
                               static_cast<double>(static_cast<float>(threshold)));
  Formula place;
  const Term at = place.input(1, DataType::kI64) + place.input(2, DataType::kI64);
  const Term result = where(place.input(0, DataType::kBool), at, place.input(3, DataType::kI64));
  Value* places = node.pointwise(
      {isFound, imageOffsets(node, images, count), rankOf(node, isFound), sizeTensor(node, all)},
      place.take(result));
  Value* found =
      scatteredRows(node, node.reshape(boxes, {all, 9}), node.reshape(places, {all}), all);
  node.setOutput(0, node.reshape(found, {images, count, 9}));
  Value* counts = node.reshape(countOf(node, isFound), {images});
  node.setOutput(1, node.cast(counts, DataType::kI32));
}

}  // namespace camshaft::onnx::importer
