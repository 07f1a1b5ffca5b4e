#include "onnx/ops/resize_run_time.h"

#include <limits>

#include "ir/dispatch.h"
#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/run_time_axes.h"
#include "onnx/size.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

Shape sizesAlong(const Value* x, const std::vector<int64_t>& axes) {
  Shape sizes;
  for (const int64_t axis : axes) sizes.push_back(x->shape()[axis]);
  return sizes;
}

Value* sizesAsFloats(const NodeImport& node, const Shape& sizes) {
  return node.cast(addDims(node.graph(), node.name(), sizes), DataType::kF32);
}

Value* part(const NodeImport& node, Value* vector, const Dim& start, const Dim& size) {
  SliceAttrs attrs;
  attrs.axes = {0};
  attrs.starts = {start};
  attrs.sizes = {size};
  attrs.steps = {1};
  return node.add(&ops::Slice, {vector}, std::move(attrs));
}

// Everything about one axis that a formula for positions needs.
struct Axis {
  Dim from, to;                // sizes
  Value *scale, *start, *end;  // scalars; the last two null unless cropping
};

// Where the elements of the output lie in the input: f32[to].
Value* coordinates(const NodeImport& node, const Axis& axis, ResizeCoordinates how) {
  Formula formula;
  const DataType f32 = DataType::kF32;
  const Term at = formula.input(0, f32), scale = formula.input(1, f32);
  const Term from = cast(formula.input(2, DataType::kI64), f32),
             to = cast(formula.input(3, DataType::kI64), f32);
  const Term exact = scale * from, isOne = apply(ScalarOp::kAbs, exact - 1) < 1e-6;
  Term result = (at + 0.5) / scale - 0.5;  // kHalfPixel
  std::vector<Value*> inputs{counting(node, f32, axis.to), axis.scale, sizeTensor(node, axis.from),
                             sizeTensor(node, axis.to)};
  switch (how) {
    case ResizeCoordinates::kHalfPixel:
      break;
    case ResizeCoordinates::kAsymmetric:
      result = at / scale;
      break;
    case ResizeCoordinates::kAlignCorners:
      result = where(isOne, 0, at * (from - 1) / (exact - 1));
      break;
    case ResizeCoordinates::kPytorchHalfPixel:
      result = where(to > 1, result, 0);
      break;
    case ResizeCoordinates::kHalfPixelSymmetric:
      result = from / 2 * (1 - to / (scale * from)) + result;
      break;
    case ResizeCoordinates::kCropAndResize: {
      inputs.push_back(axis.start);
      inputs.push_back(axis.end);
      const Term start = formula.input(4, f32), end = formula.input(5, f32);
      const Term width = (end - start) * (from - 1);
      const Term within = where(isOne, width / 2, at * width / (exact - 1));
      result = start * (from - 1) + within;
      break;
    }
  }
  return node.pointwise(std::move(inputs), formula.take(result));
}

// Elements at `position + offset`, which is held inside.
Value* take(const NodeImport& node, Value* x, int64_t axis, Value* position, double offset) {
  Formula formula;
  const Term last = formula.input(1, DataType::kI64) - 1;
  const Term index = cast(formula.input(0, DataType::kF32) + offset, DataType::kI64);
  const Term inside = larger(smaller(index, last), 0);
  GatherAttrs attrs;
  attrs.axis = axis;
  Value* size = sizeTensor(node, x->shape()[axis]);
  return node.add(&ops::Gather, {x, node.pointwise({position, size}, formula.take(inside))}, attrs);
}

Value* nearest(const NodeImport& node, Value* x, int64_t axis, Value* at, ResizeNearest how) {
  Formula formula;
  const Term position = formula.input(0, DataType::kF32);
  const auto rounded = [&] {
    switch (how) {
      case ResizeNearest::kRoundPreferFloor:
        return apply(ScalarOp::kCeil, position - 0.5);
      case ResizeNearest::kRoundPreferCeil:
        return apply(ScalarOp::kFloor, position + 0.5);
      case ResizeNearest::kFloor:
        return apply(ScalarOp::kFloor, position);
      case ResizeNearest::kCeil:
        break;
    }
    return apply(ScalarOp::kCeil, position);
  };
  return take(node, x, axis, node.pointwise({at}, formula.take(rounded())), 0);
}

// Neighbours outside count nothing, instead of being those at the edge.
bool excludesOutside(const ResizeAttrs& attrs) {
  return attrs.mode == ResizeMode::kCubic && attrs.excludeOutside;
}

// The triangle of linear sampling, or Keys' cubic, which end at a distance of 1 and 2.
Term kernelAt(Term distance, const ResizeAttrs& attrs) {
  const Term d = apply(ScalarOp::kAbs, distance);
  const double a = attrs.cubicCoefficient;
  if (attrs.mode == ResizeMode::kLinear) return larger(1 - d, 0);
  const Term inner = (d * (a + 2) - (a + 3)) * d * d + 1;
  const Term outer = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a;
  return where(d < 1, inner, where(d < 2, outer, 0));
}

// Weight of the neighbour `offset` away from floor(at).
Term weightOf(Formula& formula, double offset, const ResizeAttrs& attrs) {
  const Term at = formula.input(0, DataType::kF32);
  const Term weight = kernelAt(at - apply(ScalarOp::kFloor, at) - offset, attrs);
  if (!excludesOutside(attrs)) return weight;
  const Term size = cast(formula.input(1, DataType::kI64), DataType::kF32);
  const Term neighbour = apply(ScalarOp::kFloor, at) + offset;
  const Term isInside = apply(ScalarOp::kAnd, neighbour > -0.5, neighbour < size - 0.5);
  return where(isInside, weight, 0);
}

Value* blend(const NodeImport& node, Value* x, int64_t axis, Value* at, const ResizeAttrs& attrs) {
  const int first = attrs.mode == ResizeMode::kLinear ? 0 : -1;
  const int last = attrs.mode == ResizeMode::kLinear ? 1 : 2;
  std::vector<Value*> operands{at};
  if (excludesOutside(attrs)) operands.push_back(sizeTensor(node, x->shape()[axis]));
  Value* floor = node.unary(ScalarOp::kFloor, at);
  Shape alongAxis(static_cast<size_t>(x->rank() - axis), Dim(1));
  alongAxis[0] = at->shape()[0];
  Value *sum = nullptr, *weights = nullptr;
  for (int offset = first; offset <= last; ++offset) {
    Formula formula;
    const Term result = weightOf(formula, offset, attrs);
    Value* weight = node.cast(
        node.reshape(node.pointwise(operands, formula.take(result)), alongAxis), x->dataType());
    Value* term = node.binary(ScalarOp::kMul, take(node, x, axis, floor, offset), weight);
    sum = sum ? node.binary(ScalarOp::kAdd, sum, term) : term;
    weights = weights ? node.binary(ScalarOp::kAdd, weights, weight) : weight;
  }
  return excludesOutside(attrs) ? node.binary(ScalarOp::kDiv, sum, weights) : sum;
}

// The neighbours that a kernel widened for shrinking covers, as many on either side as the scale
// says: [to, taps] each.
struct Taps {
  Value *places, *weights;  // i64, held inside; f32, with a sum of 1
};

Taps widenedTaps(const NodeImport& node, const Axis& axis, Value* at, const ResizeAttrs& attrs) {
  const DataType f32 = DataType::kF32;
  Formula reach;
  const double support = attrs.mode == ResizeMode::kLinear ? 1 : 2;
  const Term furthest =
      cast(apply(ScalarOp::kCeil, support / smaller(reach.input(0, f32), 1)), DataType::kI64);
  const Dim half = node.dims(node.pointwise({axis.scale}, reach.take(furthest))).at(0);
  Value *positions = node.reshape(at, {axis.to, 1}), *taps = counting(node, f32, half * 2);
  Value *halfTaps = sizeTensor(node, half), *from = sizeTensor(node, axis.from);
  const auto formula = [&](bool asWeights) {
    std::vector<Value*> operands{positions, taps, halfTaps, from};
    Formula formula;
    const Term position = formula.input(0, f32);
    const Term first = 1 - cast(formula.input(2, DataType::kI64), f32);
    const Term neighbour = apply(ScalarOp::kCeil, position) - 1 + formula.input(1, f32) + first;
    const Term last = cast(formula.input(3, DataType::kI64), f32) - 1;
    if (!asWeights) {
      const Term place = cast(larger(smaller(neighbour, last), 0), DataType::kI64);
      return node.pointwise(operands, formula.take(place));
    }
    operands.push_back(axis.scale);
    const Term narrowing = smaller(formula.input(4, f32), 1);
    Term weight = kernelAt((neighbour - position) * narrowing, attrs);
    if (attrs.excludeOutside)
      weight = where((neighbour > -0.5) && (neighbour < last + 0.5), weight, 0);
    return node.pointwise(operands, formula.take(weight));
  };
  Value* weights = formula(true);
  Value* sum = reduce(node, ReduceKind::kSum, weights, {1});
  return {formula(false), node.binary(ScalarOp::kDiv, weights, sum)};
}

// A neighbour without weight does no harm, even if it is infinite.
Value* antialias(const NodeImport& node, Value* x, int64_t dim, const Axis& axis, Value* at,
                 const ResizeAttrs& attrs) {
  const Taps taps = widenedTaps(node, axis, at, attrs);
  GatherAttrs along;
  along.axis = dim;
  Value* neighbours = node.add(&ops::Gather, {x, taps.places}, along);  // [..., to, taps, ...]
  Shape alongAxis(static_cast<size_t>(x->rank() - dim) + 1, Dim(1));
  alongAxis[0] = taps.weights->shape()[0];
  alongAxis[1] = taps.weights->shape()[1];
  Formula formula;
  const Term weight = formula.input(1, x->dataType());
  const Term weighted = where(weight == 0, 0, formula.input(0, x->dataType()) * weight);
  Value* weights = node.cast(node.reshape(taps.weights, std::move(alongAxis)), x->dataType());
  Value* terms = node.pointwise({neighbours, weights}, formula.take(weighted));
  return reduce(node, ReduceKind::kSum, terms, {dim + 1}, false);
}

// To a type of integers: rounded to even, within its range.
Value* rounded(const NodeImport& node, Value* x, DataType type) {
  Formula formula;
  Term value = apply(ScalarOp::kRound, formula.input(0, x->dataType()));
  dispatch(type, [&](auto tag) {
    using T = Compute<decltype(tag)>;
    if constexpr (std::is_integral_v<T>)
      value = larger(smaller(value, static_cast<double>(std::numeric_limits<T>::max())),
                     static_cast<double>(std::numeric_limits<T>::lowest()));
  });
  return node.pointwise({x}, formula.take(cast(value, type)));
}

// Outside of the input lies one value.
Value* replaceOutside(const NodeImport& node, Value* y, int64_t axis, Value* at, const Dim& from,
                      double value) {
  Shape alongAxis(static_cast<size_t>(y->rank() - axis), Dim(1));
  alongAxis[0] = at->shape()[0];
  Formula formula;
  const Term position = formula.input(1, DataType::kF32);
  const Term last = cast(formula.input(2, DataType::kI64), DataType::kF32) - 1;
  const Term isInside = apply(ScalarOp::kAnd, position > -1e-6, position < last + 1e-6);
  const Term result = where(isInside, formula.input(0, y->dataType()), value);
  return node.pointwise({y, node.reshape(at, alongAxis), sizeTensor(node, from)},
                        formula.take(result));
}

}  // namespace

std::vector<Dim> scaledSizes(const NodeImport& node, const Value* x,
                             const std::vector<int64_t>& axes, Value* scales, Value* region) {
  const auto count = static_cast<int64_t>(axes.size());
  Value* sizes = sizesAsFloats(node, sizesAlong(x, axes));
  if (region) {
    Value* extent =
        node.binary(ScalarOp::kSub, part(node, region, count, count), part(node, region, 0, count));
    sizes = node.binary(ScalarOp::kMul, sizes, extent);
  }
  Value* scaled = node.unary(ScalarOp::kFloor, node.binary(ScalarOp::kMul, sizes, scales));
  return node.dims(node.cast(scaled, DataType::kI64));
}

RunTimeResize keepAspectRatio(const NodeImport& node, const Value* x,
                              const std::vector<int64_t>& axes, const std::vector<Dim>& sizes,
                              bool larger) {
  Value* own = sizesAsFloats(node, sizesAlong(x, axes));
  Value* ratios = node.binary(ScalarOp::kDiv, sizesAsFloats(node, sizes), own);
  Value* scale = reduce(node, larger ? ReduceKind::kMax : ReduceKind::kMin, ratios, {0});
  Formula formula;
  const Term exact = formula.input(0, DataType::kF32) * formula.input(1, DataType::kF32);
  const Term result = cast(apply(ScalarOp::kFloor, exact + 0.5), DataType::kI64);
  Value* rounded = node.pointwise({own, scale}, formula.take(result));
  return {.axes = axes,
          .sizes = node.dims(rounded),
          .scales = node.expand(scale, {static_cast<int64_t>(axes.size())})};
}

Value* resizeAtRunTime(const NodeImport& node, Value* x, const RunTimeResize& resize,
                       const ResizeAttrs& attrs) {
  const bool blends = attrs.mode != ResizeMode::kNearest;
  if (attrs.antialias && !blends)
    node.invalid("it asks for antialiasing, which nearest sampling does not have");
  const bool crops = attrs.coordinates == ResizeCoordinates::kCropAndResize;
  const DataType type = x->dataType();
  if (blends && (!isFloat(type) || (attrs.antialias && type != DataType::kF64)))
    x = node.cast(x, DataType::kF32);
  Value* scales = resize.scales;
  if (!scales)
    scales = node.binary(ScalarOp::kDiv, sizesAsFloats(node, resize.sizes),
                         sizesAsFloats(node, sizesAlong(x, resize.axes)));
  for (size_t i = 0; i < resize.axes.size(); ++i) {
    const int64_t dim = resize.axes[i], at = static_cast<int64_t>(i);
    const Dim from = x->shape()[dim];
    const auto bound = [&](size_t k) {
      return crops ? elementOf(node, resize.region, static_cast<int64_t>(k)) : nullptr;
    };
    const Axis axis{from, resize.sizes[i], elementOf(node, scales, at), bound(i),
                    bound(i + resize.axes.size())};
    Value* positions = coordinates(node, axis, attrs.coordinates);
    if (blends)
      x = attrs.antialias ? antialias(node, x, dim, axis, positions, attrs)
                          : blend(node, x, dim, positions, attrs);
    else
      x = nearest(node, x, dim, positions, attrs.nearest);
    if (crops) x = replaceOutside(node, x, dim, positions, from, attrs.extrapolation);
  }
  return blends && !isFloat(type) ? rounded(node, x, type) : node.cast(x, type);
}

}  // namespace camshaft::onnx::importer
