#include "api/layers/fill.h"

#include <cmath>

#include "api/convert.h"
#include "api/tensor.h"
#include "onnx/formula.h"
#include "ops/move.h"
#include "ops/random.h"
#include "ops/shape.h"
#include "support/hash.h"

namespace camshaft::api {

using namespace onnx::importer;  // Formula and Term
using nvinfer1::FillOperation;

Value* FillParams::number(Emission& at, size_t input, DataType own) const {
  if (at.has(input)) return at.cast(at.input(input), own);
  const Number& given = input == 1 ? alpha : beta;
  if (!isInt64) return at.scalar(own, given.real);
  return at.cast(at.graph.addConstant<int64_t>(at.name, DataType::kI64, {}, {&given.integer, 1}),
                 own);
}

namespace {

// Element i of a vector, as a scalar; a scalar has itself.
Value* elementOf(Emission& at, Value* vector, int64_t i) {
  if (vector->rank() == 0) return vector;
  SliceAttrs attrs;
  attrs.axes = {0};
  attrs.starts = {i};
  attrs.sizes = {1};
  attrs.steps = {1};
  return at.reshape(at.add(&ops::Slice, {vector}, std::move(attrs)), {});
}

}  // namespace

Value* FillParams::line(Emission& at, const Shape& shape, DataType own) const {
  const auto rank = static_cast<int64_t>(shape.size());
  Value *start = at.reshape(number(at, 1, own), {}), *steps = number(at, 2, own);
  if (steps->rank() > 1 || !numElements(steps->shape()).isConstant(rank)) {
    // Dimensions and numbers are set one after the other.
    at.lacks("needs a beta for each of its ", rank, " dimensions and has ",
             at.has(2) ? str(steps->type) : "one number; set input 2");
    ExpandAttrs attrs;
    attrs.shape = shape;
    return at.add(&ops::Expand, {start}, std::move(attrs));
  }
  Value* sum = rank == 0 ? start : nullptr;
  for (int64_t i = 0; i < rank; ++i) {
    RangeAttrs attrs;
    attrs.count = shape[i];
    Value* first = sum ? at.scalar(own, 0) : start;
    Value* range = at.add(&ops::Range, {first, elementOf(at, steps, i)}, std::move(attrs));
    Shape along(shape.size(), Dim(1));
    along[i] = shape[i];
    range = at.reshape(range, std::move(along));
    sum = sum ? addBinary(at.graph, ScalarOp::kAdd, at.name, sum, range, at.before) : range;
  }
  return sum;
}

// Limits that only a run knows are applied to draws in [0, 1) or of deviation 1.
Value* FillParams::random(Emission& at, const Shape& shape, DataType own) const {
  if (!isFloat(own) || bitsOf(own) < 16)
    at.invalid("draws numbers of type kFLOAT, kHALF or kBF16 and was asked for ", own);
  const bool uniform = operation == FillOperation::kRANDOM_UNIFORM, given = at.has(1) || at.has(2);
  RandomAttrs attrs;
  attrs.kind = uniform ? RandomKind::kUniform : RandomKind::kNormal;
  attrs.shape = shape;
  attrs.type = given ? DataType::kF32 : own;
  attrs.seed = static_cast<int64_t>(Hasher().add(at.name).digest());
  if (!given) {
    attrs.low = alpha.real;
    attrs.high = beta.real;
    return at.add(&ops::Random, {}, std::move(attrs));
  }
  Value* drawn = at.add(&ops::Random, {}, std::move(attrs));
  const auto limit = [&](size_t input) {
    return at.reshape(number(at, input, DataType::kF32), {});
  };
  Formula f;
  const Term x = f.input(0, DataType::kF32), a = f.input(1, DataType::kF32),
             b = f.input(2, DataType::kF32);
  const Term spread = uniform ? b - a : b;
  return at.pointwise({drawn, limit(1), limit(2)}, f.take(cast(x * spread + a, own)));
}

std::vector<Value*> FillParams::emit(Emission& at) const {
  requireKnown(operation, "fill operation");
  const DataType own = typeIn(at, type);
  const Shape shape = at.has(0) ? at.dims(0) : dims;
  for (const Dim& size : shape)
    if (size.isConstant() && size.value() < 0) at.invalid("has a dimension of size ", size);
  if (operation != FillOperation::kLINSPACE) return {random(at, shape, own)};
  if (own == DataType::kBool || isPacked(own) || bitsOf(own) < 16)
    at.invalid("counts in kFLOAT, kHALF, kINT32 or kINT64 and was asked for ", own);
  return {line(at, shape, own)};
}

void FillParams::read(const Node& node) {
  type = toPublic(node.output()->dataType());
  dims = node.output()->shape();
  if (node.op == &ops::Range) return;
  const auto& attrs = node.as<RandomAttrs>();
  operation = attrs.kind == RandomKind::kUniform ? FillOperation::kRANDOM_UNIFORM
                                                 : FillOperation::kRANDOM_NORMAL;
  alpha.real = attrs.low;
  beta.real = attrs.high;
}

void FillLayer::setDimensions(const nvinfer1::Dims& dims) noexcept {
  change([&](Params& params) { params.dims = makeShape(fromPublic(dims)); }, 0);
}

nvinfer1::Dims FillLayer::getDimensions() const noexcept {
  return guarded(reporter(), invalidDims(),
                 [&] { return input(0) ? invalidDims() : publicDims(params_.dims); });
}

void FillLayer::setReal(Params::Number Params::* field, double value,
                        int32_t replacedInput) noexcept {
  change(
      [&](Params& params) {
        params.*field = {value, std::abs(value) < 0x1p63 ? std::llround(value) : 0};
        params.isInt64 = false;
      },
      replacedInput);
}

void FillLayer::setInteger(Params::Number Params::* field, int64_t value,
                           int32_t replacedInput) noexcept {
  change(
      [&](Params& params) {
        params.*field = {static_cast<double>(value), value};
        params.isInt64 = true;
      },
      replacedInput);
}

}  // namespace camshaft::api
