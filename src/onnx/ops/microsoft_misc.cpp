// Operators of com.microsoft that exporters and optimisers write beside the fused ones.
#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/run_time_axes.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/gemm.h"
#include "ops/norm.h"
#include "ops/sample.h"
#include "ops/signal.h"

namespace camshaft::onnx::importer {

// LayerNorm of the sum of word, position and segment embeddings; the second output counts the
// words that the mask leaves.
void importEmbedLayerNormalization(NodeImport& node) {
  Value* ids = node.input(0, 2);
  const Dim &batch = ids->shape()[0], &length = ids->shape()[1];
  const auto lookUp = [&](int table, Value* indices) {
    return node.add(&ops::Gather, {node.input(table, 2), indices}, GatherAttrs{});
  };
  Value* positions = node.optionalInput(8);
  const Dim& width = node.input(2, 2)->shape()[1];
  requireSize(node, node.input(3, 2)->shape()[1], "columns of positions", width);
  requireShape(node, node.optionalInput(7), "mask", ids->shape());
  if (positions) requireBroadcastsTo(node, positions, "position ids", ids->shape());
  requireShape(node, node.input(5), "scale", {width});
  requireShape(node, node.input(6), "shift", {width});
  Value* sum =
      node.binary(ScalarOp::kAdd, lookUp(2, ids),
                  positions ? lookUp(3, positions) : node.slice(node.input(3, 2), 0, 0, length));
  if (Value* segments = node.optionalInput(1)) {
    requireShape(node, segments, "segment ids", ids->shape());
    requireSize(node, node.input(4, 2)->shape()[1], "columns of segments", width);
    sum = node.binary(ScalarOp::kAdd, sum, lookUp(4, segments));
  }
  LayerNormAttrs attrs;
  attrs.axis = 2;
  attrs.epsilon = node.number("epsilon", 1e-12);
  node.setOutput(0, node.add(&ops::LayerNorm, {sum, node.input(5), node.input(6)}, attrs));
  node.setOutput(2, sum);
  if (!node.wants(1)) return;
  Value* mask = node.optionalInput(7, 2);
  if (!mask) return node.setOutput(1, node.expand(node.scalar(DataType::kI32, 0), {batch}));
  Value* words = node.cast(node.binary(ScalarOp::kEqual, mask, 1.0), DataType::kI32);
  node.setOutput(1, reduce(node, ReduceKind::kSum, words, {1}, false));
}

namespace {

// (a + bi)(c + di), or (a + bi)(c - di), with real and imaginary parts in the last dimension.
void importComplexProduct(NodeImport& node, bool conjugate) {
  const auto part = [&](int input, int64_t i) {
    Value* x = node.input(input, Ranks::from(1));
    requireSize(node, x->shape().back(), "parts of a complex number", 2);
    return node.slice(x, x->rank() - 1, i, 1);
  };
  Value *a = part(0, 0), *b = part(0, 1), *c = part(1, 0), *d = part(1, 1);
  const auto mul = [&](Value* x, Value* y) { return node.binary(ScalarOp::kMul, x, y); };
  const ScalarOp with = conjugate ? ScalarOp::kAdd : ScalarOp::kSub,
                 against = conjugate ? ScalarOp::kSub : ScalarOp::kAdd;
  Value* real = node.binary(with, mul(a, c), mul(b, d));
  Value* imaginary = node.binary(against, mul(b, c), mul(a, d));
  node.setOutput(node.concat({real, imaginary}, real->rank() - 1));
}

void importRealFourier(NodeImport& node, bool inverse) {
  if (node.integer("signal_ndim", 1) != 1)
    node.unsupported("transforms of ", node.integer("signal_ndim", 1),
                     " dimensions at once are not supported");
  if (node.flag("normalized") || !node.flag("onesided", true))
    node.unsupported("only one-sided transforms without normalisation are supported");
  Value* x = node.input(0, Ranks::from(inverse ? 2 : 1));
  if (!inverse) {  // one column of real parts
    Shape column = x->shape();
    column.push_back(1);
    x = node.reshape(x, std::move(column));
  }
  DftAttrs attrs;
  attrs.axis = x->rank() - 2;
  attrs.inverse = inverse;
  attrs.oneSided = true;
  const Dim& size = x->shape()[attrs.axis];
  attrs.length = inverse ? (size - 1) * 2 : size;
  Value* y = node.add(&ops::Dft, {x}, std::move(attrs));
  if (inverse) y = node.reshape(y, {y->shape().begin(), y->shape().end() - 1});
  node.setOutput(y);
}

}  // namespace

void importComplexMul(NodeImport& node) { importComplexProduct(node, false); }
void importComplexMulConj(NodeImport& node) { importComplexProduct(node, true); }
void importRfft(NodeImport& node) { importRealFourier(node, false); }
void importIrfft(NodeImport& node) { importRealFourier(node, true); }

void importExpandDims(NodeImport& node) {
  Value* x = node.input(0);
  const auto axis = node.knownIntegers(node.input(1));
  if (!axis) return node.setOutput(unsqueezeAtRunTime(node, x, node.reshape(node.input(1), {})));
  if (axis->size() != 1) node.invalid("its axis must be one number");
  Shape shape = x->shape();
  shape.insert(shape.begin() + node.axis(axis->front(), x->rank() + 1), Dim(1));
  node.setOutput(node.reshape(x, std::move(shape)));
}

// Distances between the rows of a and of b: sqrt(|a|² - 2ab + |b|²).
void importCDist(NodeImport& node) {
  const int metric = node.choice("metric", "sqeuclidean", {"sqeuclidean", "euclidean"});
  Value *a = node.input(0, 2), *b = node.input(1, 2);
  const auto norms = [&](Value* x) { return reduce(node, ReduceKind::kSumSquare, x, {1}); };
  MatMulAttrs attrs;
  attrs.transposeB = true;
  Value* twice = node.binary(ScalarOp::kMul, node.add(&ops::MatMul, {a, b}, attrs), 2.0);
  Value* sum = node.binary(ScalarOp::kAdd, norms(a), node.reshape(norms(b), {1, b->shape()[0]}));
  Value* squares = node.binary(ScalarOp::kMax, node.binary(ScalarOp::kSub, sum, twice), 0.0);
  node.setOutput(metric == 0 ? squares : node.unary(ScalarOp::kSqrt, squares));
}

// By Cramer's rule: the transposed cofactors over the determinant. Matrices that models invert are
// of two to four rows.
void importInverse(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(2));
  const int64_t rank = x->rank();
  // Cofactors are written out, as many as there are elements.
  if (!x->shape().back().isConstant())
    node.unsupported("it inverts matrices of ", x->shape().back(),
                     " columns, whose number must be known: fix it when exporting");
  const int64_t n = x->shape().back().value();
  if (n > 16) node.unsupported("matrices of more than 16 rows are not inverted");
  if (n == 1) return node.setOutput(node.unary(ScalarOp::kReciprocal, x));
  std::vector<int64_t> others;  // row i: all but i
  std::vector<float> signs;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      if (j != i) others.push_back(j);
      signs.push_back((i + j) % 2 == 0 ? 1.0f : -1.0f);
    }
  Value* kept = node.graph().addConstant<int64_t>(node.name(), DataType::kI64, {n, n - 1}, others);
  Value* sign = node.graph().addConstant<float>(node.name(), DataType::kF32, {n, n}, signs);
  GatherAttrs rows, columns;
  rows.axis = rank - 2;
  columns.axis = rank;
  Value* minors = node.add(&ops::Gather, {node.add(&ops::Gather, {x, kept}, rows), kept}, columns);
  std::vector<int64_t> order = axisRange(0, rank + 2);  // column before row: transposed
  std::swap(order[rank - 2], order[rank]);              // [..., column, rows, row, columns]
  std::swap(order[rank - 1], order[rank]);              // [..., column, row, rows, columns]
  const auto determinant = [&](Value* matrices) {
    return node.add(&ops::Determinant, {matrices}, NoAttrs{});
  };
  Value* cofactors = node.binary(ScalarOp::kMul, determinant(node.transpose(minors, order)),
                                 node.cast(sign, x->dataType()));
  Shape one = x->shape();
  one[rank - 2] = one[rank - 1] = 1;
  node.setOutput(node.binary(ScalarOp::kDiv, cofactors, node.reshape(determinant(x), one)));
}

void importGatedAdd(NodeImport& node) {
  node.setOutput(node.binary(ScalarOp::kAdd, node.input(0),
                             node.binary(ScalarOp::kMul, node.input(1), node.input(2))));
}

namespace {

// Where `count` samples from `from` to `to` lie, both [boxes, 1] in 0..1 of an axis, as [boxes,
// count]; one sample lies in the middle.
Value* samplesBetween(const NodeImport& node, Value* from, Value* to, const Dim& count) {
  Formula formula;
  const Term last = cast(formula.input(1, DataType::kI64) - 1, DataType::kF32);
  where(last == 0, 0.5, formula.input(0, DataType::kF32) / last);
  Value* steps = node.pointwise({counting(node, DataType::kF32, count), sizeTensor(node, count)},
                                formula.take());
  Value* width = node.binary(ScalarOp::kSub, to, from);
  return node.binary(ScalarOp::kAdd, from,
                     node.binary(ScalarOp::kMul, width, node.cast(steps, from->dataType())));
}

// Places in 0..1 moved to the nearest pixel of `size`; what lies outside stays outside.
Value* nearestPixels(const NodeImport& node, Value* places, const Dim& size) {
  const DataType type = places->dataType();
  Formula formula;
  const Term place = formula.input(0, type);
  const Term steps = larger(cast(formula.input(1, DataType::kI64), type) - 1.0, 1);
  const Term pixel = apply(ScalarOp::kFloor, place * steps + 0.5) / steps;
  where((place < 0) || (place > 1), place, pixel);
  return node.pointwise({places, sizeTensor(node, size)}, formula.take());
}

}  // namespace

// Boxes [y1, x1, y2, x2], in fractions of the picture, sampled with corners aligned. What lies
// outside the picture has the value `extrapolation_value`.
void importCropAndResize(NodeImport& node) {
  Value *x = node.input(0, 4), *boxes = node.input(1, 2);
  requireSize(node, boxes->shape()[1], "numbers per box", 4);
  requireShape(node, node.input(2), "list of pictures", {boxes->shape()[0]});
  const std::vector<Dim> size = node.dims(3);
  const auto isPositive = [](const Dim& dim) { return !dim.isConstant() || dim.value() > 0; };
  if (size.size() != 2 || !isPositive(size[0]) || !isPositive(size[1]))
    node.invalid("its crop_size must be two positive numbers");
  const Dim count = boxes->shape()[0];
  const auto corner = [&](int64_t i) { return node.slice(boxes, 1, i, 1); };
  Value* rows = samplesBetween(node, corner(0), corner(2), size[0]);
  Value* columns = samplesBetween(node, corner(1), corner(3), size[1]);
  const Shape grid{count, size[0], size[1], 1};
  const bool nearest = node.choice("mode", "bilinear", {"bilinear", "nearest"}) == 1;
  if (nearest) {
    rows = nearestPixels(node, rows, x->shape()[2]);
    columns = nearestPixels(node, columns, x->shape()[3]);
  }
  rows = node.expand(node.reshape(rows, {count, size[0], 1, 1}), grid);
  columns = node.expand(node.reshape(columns, {count, 1, size[1], 1}), grid);
  Value* places = node.concat({columns, rows}, 3);
  Formula outside;
  const Term place = outside.input(0, places->dataType());
  cast((place < 0) || (place > 1), DataType::kF32);
  Value* isOutside = node.pointwise({places}, outside.take());
  isOutside =
      node.reshape(reduce(node, ReduceKind::kMax, isOutside, {3}), {count, 1, size[0], size[1]});
  GridSampleAttrs attrs;
  attrs.mode = nearest ? GridSampleMode::kNearest : GridSampleMode::kLinear;
  attrs.padding = GridSamplePadding::kBorder;
  attrs.alignCorners = true;
  Value* pictures = node.add(&ops::Gather, {x, node.input(2, 1)}, GatherAttrs{});
  Value* centred = node.binary(ScalarOp::kSub, node.binary(ScalarOp::kMul, places, 2.0), 1.0);
  Value* sampled = node.add(&ops::GridSample, {pictures, centred}, attrs);
  Formula formula;
  const Term isIn = formula.input(1, DataType::kF32) == 0.0;
  where(isIn, formula.input(0, sampled->dataType()), node.number("extrapolation_value", 0));
  node.setOutput(node.pointwise({sampled, isOutside}, formula.take()));
}

}  // namespace camshaft::onnx::importer
