#include "onnx/ops/crop.h"

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/reduce.h"
#include "onnx/size.h"
#include "ops/sample.h"

namespace camshaft::onnx::importer {

namespace {

// Where `count` samples from `from` to `to` lie, both [boxes, 1] in 0..1 of an axis, as [boxes,
// count]; one sample lies in the middle.
Value* samplesBetween(const NodeImport& node, Value* from, Value* to, const Dim& count) {
  Formula formula;
  const Term last = cast(formula.input(1, DataType::kI64) - 1, DataType::kF32);
  const Term result = where(last == 0, 0.5, formula.input(0, DataType::kF32) / last);
  Value* steps = node.pointwise({counting(node, DataType::kF32, count), sizeTensor(node, count)},
                                formula.take(result));
  Value* width = node.binary(ScalarOp::kSub, to, from);
  return node.binary(ScalarOp::kAdd, from,
                     node.binary(ScalarOp::kMul, width, node.cast(steps, from->dataType())));
}

// Places moved to the nearest pixel of a picture; what lies outside stays outside.
Value* nearestPixels(const NodeImport& node, Value* places, const Shape& picture) {
  const DataType type = places->dataType();
  Value* sizes = node.concat({node.reshape(sizeTensor(node, picture[3]), {1}),
                              node.reshape(sizeTensor(node, picture[2]), {1})},
                             0);
  Formula formula;
  const Term place = formula.input(0, type);
  const Term steps = larger(cast(formula.input(1, DataType::kI64), type) - 1.0, 1);
  const Term pixel = apply(ScalarOp::kFloor, place * steps + 0.5) / steps;
  const Term result = where((place < 0) || (place > 1), place, pixel);
  return node.pointwise({places, sizes}, formula.take(result));
}

// [N, 1, rows, columns]: 1 where a place lies outside.
Value* outsideOf(const NodeImport& node, Value* places) {
  Formula formula;
  const Term place = formula.input(0, places->dataType());
  const Term isBeyond = cast((place < 0) || (place > 1), DataType::kF32);
  Value* isOutside = node.pointwise({places}, formula.take(isBeyond));
  const Shape& shape = places->shape();
  return node.reshape(reduce(node, ReduceKind::kMax, isOutside, {3}),
                      {shape[0], 1, shape[1], shape[2]});
}

}  // namespace

Value* cropPlaces(const NodeImport& node, Value* boxes, const Dim& height, const Dim& width) {
  const Dim count = boxes->shape()[0];
  const auto corner = [&](int64_t i) { return node.slice(boxes, 1, i, 1); };
  Value* rows = samplesBetween(node, corner(0), corner(2), height);
  Value* columns = samplesBetween(node, corner(1), corner(3), width);
  const Shape grid{count, height, width, 1};
  rows = node.expand(node.reshape(rows, {count, height, 1, 1}), grid);
  columns = node.expand(node.reshape(columns, {count, 1, width, 1}), grid);
  return node.concat({columns, rows}, 3);
}

Value* samplePlaces(const NodeImport& node, Value* pictures, Value* places,
                    const Sampling& sampling) {
  Value* isOutside = outsideOf(node, places);
  if (sampling.nearest) places = nearestPixels(node, places, pictures->shape());
  GridSampleAttrs attrs;
  attrs.mode = sampling.nearest ? GridSampleMode::kNearest : GridSampleMode::kLinear;
  attrs.padding = GridSamplePadding::kBorder;
  attrs.alignCorners = true;
  Value* centred = node.binary(ScalarOp::kSub, node.binary(ScalarOp::kMul, places, 2.0), 1.0);
  Value* sampled = node.add(&ops::GridSample, {pictures, centred}, attrs);
  Formula formula;
  const Term isIn = formula.input(1, DataType::kF32) == 0.0;
  const Term result = where(isIn, formula.input(0, sampled->dataType()), sampling.outside);
  return node.pointwise({sampled, isOutside}, formula.take(result));
}

}  // namespace camshaft::onnx::importer
