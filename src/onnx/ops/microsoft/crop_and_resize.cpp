// CropAndResize of com.microsoft: boxes sampled to one size.
#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/reduce.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
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

// Places in 0..1 moved to the nearest pixel of `size`; what lies outside stays outside.
Value* nearestPixels(const NodeImport& node, Value* places, const Dim& size) {
  const DataType type = places->dataType();
  Formula formula;
  const Term place = formula.input(0, type);
  const Term steps = larger(cast(formula.input(1, DataType::kI64), type) - 1.0, 1);
  const Term pixel = apply(ScalarOp::kFloor, place * steps + 0.5) / steps;
  const Term result = where((place < 0) || (place > 1), place, pixel);
  return node.pointwise({places, sizeTensor(node, size)}, formula.take(result));
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
  const Term isBeyond = cast((place < 0) || (place > 1), DataType::kF32);
  Value* isOutside = node.pointwise({places}, outside.take(isBeyond));
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
  const Term result =
      where(isIn, formula.input(0, sampled->dataType()), node.number("extrapolation_value", 0));
  node.setOutput(node.pointwise({sampled, isOutside}, formula.take(result)));
}

}  // namespace camshaft::onnx::importer
