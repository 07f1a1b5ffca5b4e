#include "api/layers/emit.h"

#include <algorithm>
#include <numeric>

#include "api/convert.h"
#include "ops/contents.h"
#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/reduce.h"
#include "ops/shape.h"

namespace camshaft::api {

Value* Emission::input(size_t i) const {
  if (!has(i)) invalid("lacks its input ", i);
  return inputs[i];
}

Value* Emission::pointwise(std::vector<Value*> operands, Expr expr) {
  return addPointwise(graph, name, std::move(operands), std::move(expr), before);
}

Value* Emission::cast(Value* x, DataType type) {
  return x->dataType() == type ? x : addCast(graph, name, x, type, before);
}

Value* Emission::reshape(Value* x, Shape shape) {
  if (x->shape() == shape) return x;
  ReshapeAttrs attrs;
  attrs.shape = std::move(shape);
  return add(&ops::Reshape, {x}, std::move(attrs));
}

Value* Emission::transpose(Value* x, std::vector<int64_t> order) {
  std::vector<int64_t> same(order.size());
  std::iota(same.begin(), same.end(), 0);
  if (order == same) return x;
  TransposeAttrs attrs;
  attrs.order = std::move(order);
  return add(&ops::Transpose, {x}, std::move(attrs));
}

Value* Emission::binary(ScalarOp op, Value* a, Value* b) {
  return addBinary(graph, op, name, a, b, before);
}

Value* Emission::slice(Value* x, int64_t axis, Dim start, Dim size, int64_t step) {
  SliceAttrs attrs;
  attrs.axes = {axis};
  attrs.starts = {std::move(start)};
  attrs.sizes = {std::move(size)};
  attrs.steps = {step};
  return add(&ops::Slice, {x}, std::move(attrs));
}

Value* Emission::concat(std::vector<Value*> parts, int64_t axis) {
  ConcatAttrs attrs;
  attrs.axis = axis;
  return add(&ops::Concat, std::move(parts), std::move(attrs));
}

Value* Emission::product(Value* a, Value* b, bool transposeB) {
  MatMulAttrs attrs;
  attrs.transposeB = transposeB;
  return add(&ops::MatMul, {a, b}, std::move(attrs));
}

Value* Emission::sum(Value* x, int64_t axis) {
  ReduceAttrs attrs;
  attrs.axes = {axis};
  attrs.keepDims = false;
  return add(&ops::Reduce, {x}, std::move(attrs));
}

Value* Emission::counting(DataType type, const Dim& count) {
  RangeAttrs attrs;
  attrs.count = count;
  return add(&ops::Range, {addScalar(graph, name, type, 0), addScalar(graph, name, type, 1)},
             std::move(attrs));
}

Value* Emission::sizeValue(const Dim& size) {
  DimsTensorAttrs attrs;
  attrs.values = {size};
  attrs.scalar = true;
  return add(&ops::DimsTensor, {}, std::move(attrs));
}

std::vector<Dim> Emission::dims(size_t i) { return contentsOf(graph, input(i), who(), before); }

std::vector<int64_t> Emission::constants(size_t i, std::string_view what) {
  const Contents known = knownContents(input(i));
  if (!known || !isStatic(*known))
    unsupported("needs its ", what, " as constants, and '", input(i)->name, "' is not one");
  return staticDims(*known);
}

DataType typeIn(const Emission& at, nvinfer1::DataType type) {
  const auto own = fromPublic(type);
  if (!own) at.invalid("was given an unknown type ", static_cast<int>(type));
  return *own;
}

DataType indicesTypeIn(const Emission& at, nvinfer1::DataType type) {
  if (type != nvinfer1::DataType::kINT32 && type != nvinfer1::DataType::kINT64)
    at.invalid("gives indices as kINT32 or kINT64 only");
  return typeIn(at, type);
}

int64_t axisIn(const Emission& at, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    at.invalid("was given axis ", axis, " of a tensor of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> axesOf(uint32_t mask) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < 32; ++i)
    if (mask >> i & 1) axes.push_back(i);
  return axes;
}

uint32_t maskOf(const std::vector<int64_t>& axes) {
  uint32_t mask = 0;
  for (int64_t axis : axes) mask |= 1u << axis;
  return mask;
}

int64_t onlyAxis(const Emission& at, uint32_t mask) {
  const std::vector<int64_t> axes = axesOf(mask);
  if (axes.size() != 1) at.invalid("works along one axis and its mask names ", axes.size());
  return axisIn(at, axes[0], at.input(0)->rank());
}

bool isZeroConstant(const Value* value) {
  return value->isConstant() && std::ranges::all_of(value->constant->bytes, [](std::byte byte) {
           return byte == std::byte{0};
         });
}

static ConstantPtr copyOf(std::vector<std::byte> bytes, const void* given) {
  ConstantData copy = *ConstantData::own(std::move(bytes));
  copy.given = given;
  return std::make_shared<const ConstantData>(std::move(copy));
}

bool areSizes(const std::vector<Dim>& dims) {
  return std::ranges::none_of(dims,
                              [](const Dim& dim) { return dim.isConstant() && dim.value() < 0; });
}

WeightsCopy::WeightsCopy(const nvinfer1::Weights& weights) : count(weights.count) {
  if (count < 0 || (count > 0 && !weights.values))
    fail(ErrorKind::kInvalidArgument, "weights of count ", count,
         weights.values ? "" : " without values", " were given");
  const auto own = fromPublic(weights.type);
  if (own) type = *own;
  if (count == 0) return;
  if (!own)
    fail(ErrorKind::kInvalidArgument, "weights of unknown type ", static_cast<int>(weights.type),
         " were given");
  const auto* bytes = static_cast<const std::byte*>(weights.values);
  data = copyOf(std::vector<std::byte>(bytes, bytes + bytesOf(type, count)), bytes);
}

WeightsCopy::WeightsCopy(const Value* constant)
    : type(constant->dataType()),
      data(constant->constant),
      count(numElements(constant->shape()).value()) {}

nvinfer1::Weights WeightsCopy::view() const {
  return {toPublic(type), data ? data->bytes.data() : nullptr, count};
}

Value* WeightsCopy::constant(Emission& at, std::string_view what, DataType as,
                             const camshaft::Dims& dims) const {
  if (count != countOf(dims))
    at.invalid("has ", count, " ", what, " weights where [", join(dims, ", "), "] needs ",
               countOf(dims));
  ConstantPtr converted = data;
  if (as != type) {
    if (!isFloat(as) || !isFloat(type) || isPacked(as) || isPacked(type))
      at.invalid("has ", what, " weights of type ", type, " where its input is ", as);
    std::vector<std::byte> bytes(bytesOf(as, count));
    for (int64_t i = 0; i < count; ++i)
      writeElement(as, bytes.data(), i, readElement(type, data->bytes.data(), i));
    converted = copyOf(std::move(bytes), data->given);
  }
  return at.graph.addConstant(str(at.name, ".", what), {as, makeShape(dims)}, std::move(converted));
}

}  // namespace camshaft::api
