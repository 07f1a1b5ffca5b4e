#include "onnx/size.h"

#include <cmath>

#include "onnx/formula.h"
#include "ops/pointwise.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

Dim atLeast(InputSizes& sizes, const Dim& a, const Dim& b) {
  if (sizes.isAtLeastAnyway(a, b)) return a;
  if (sizes.isAtLeast(b, a)) return b;
  return sizes.isAtLeast(a, b) ? a : max(a, b);
}

Dim atMost(InputSizes& sizes, const Dim& a, const Dim& b) {
  if (sizes.isAtLeastAnyway(b, a)) return a;
  if (sizes.isAtLeast(a, b)) return b;
  return sizes.isAtLeast(b, a) ? a : min(a, b);
}

std::optional<std::vector<Dim>> wholeNumbers(const NodeImport& node, const Value* value) {
  if (value->contents) return value->contents;
  if (value->producer && value->producer->op == &ops::Pointwise) {
    const Node& cast = *value->producer;
    if (cast.as<PointwiseAttrs>().expr.isSingle(ScalarOp::kCast) && isFloat(value->dataType()) &&
        cast.inputs[0]->contents)
      return cast.inputs[0]->contents;
  }
  const auto numbers = node.knownNumbers(value);
  if (!numbers) return std::nullopt;
  std::vector<Dim> dims;
  for (const double number : *numbers) {
    if (number != std::floor(number) || std::fabs(number) > 1e15) return std::nullopt;
    dims.push_back(static_cast<int64_t>(number));
  }
  return dims;
}

std::vector<Dim> dimsFrom(const NodeImport& node, Value* values, const std::vector<Dim>& low) {
  if (values->contents || node.knownIntegers(values)) return node.dims(values);
  Formula formula;
  const Term value = cast(formula.input(0, values->dataType()), DataType::kI64);
  const Term above = larger(value - formula.input(1, DataType::kI64), 0);
  Value* lowest = addDims(node.graph(), node.name(), low);
  std::vector<Dim> dims = node.dims(node.pointwise({values, lowest}, formula.take(above)));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] += low.at(i);
  return dims;
}

Value* withLength(const NodeImport& node, Value* vector, std::optional<int64_t> length) {
  if (!length || vector->rank() != 1 || vector->shape()[0].isConstant()) return vector;
  return node.reshape(vector, {*length});
}

Value* sizeTensor(const NodeImport& node, const Dim& size) {
  DimsTensorAttrs attrs;
  attrs.values = {size};
  attrs.scalar = true;
  return node.add(&ops::DimsTensor, {}, std::move(attrs));
}

namespace {

constexpr int64_t kFar = int64_t{1} << 31;  // "to the end", as exporters write it, is beyond this

// A bound as an index into 0..size, before clamping; symbolic bounds are sizes, so not negative.
Dim fromStart(InputSizes& sizes, const Dim& bound, const Dim& size) {
  return sizes.isAtLeast(-1, bound) ? bound + size : bound;
}

bool isFarUp(const Dim& bound) { return bound.isConstant() && bound.value() >= kFar - 1; }
bool isFarDown(const Dim& bound) { return bound.isConstant() && bound.value() <= -kFar + 1; }

Dim clamped(InputSizes& sizes, const Dim& bound, const Dim& low, const Dim& high, const Dim& size) {
  if (isFarUp(bound)) return high;
  if (isFarDown(bound)) return low;
  return atLeast(sizes, atMost(sizes, fromStart(sizes, bound, size), high), low);
}

// Where the first element of x[start::-1] lies: in 0..last, and before the first, where nothing is
// taken, when there are none.
Dim firstBackwards(InputSizes& sizes, const Dim& start, const Dim& size) {
  const Dim last = size - 1;
  // From the last element on there are as many elements as there are.
  if (isFarUp(start) || (!isFarDown(start) && fromStart(sizes, start, size) == last)) return last;
  const Dim first = clamped(sizes, start, 0, last, size);
  return sizes.isAtLeastAnyway(size, 1) ? first : min(first, last);
}

}  // namespace

SliceBounds sliceBounds(InputSizes& sizes, const Dim& size, const Dim& start, const Dim& end,
                        int64_t step) {
  if (size.isConstant(0)) return {0, 0};
  const Dim low = step > 0 ? 0 : -1;
  const Dim high = step > 0 ? size : size - 1;
  const Dim first =
      step > 0 ? clamped(sizes, start, low, high, size) : firstBackwards(sizes, start, size);
  const Dim last = clamped(sizes, end, low, high, size);
  const Dim distance = step > 0 ? last - first : first - last;
  return {first, atLeast(sizes, ceilDiv(distance, step > 0 ? step : -step), 0)};
}

}  // namespace camshaft::onnx::importer
