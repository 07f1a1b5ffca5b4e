#include "api/plugins/expressions.h"

#include <limits>

#include "support/error.h"

namespace camshaft::api {
namespace {

using nvinfer1::DimensionOperation;

// 1 where a < b, else 0.
Dim less(const Dim& a, const Dim& b) { return min(1, max(0, b - a)); }

Dim apply(DimensionOperation op, const Dim& a, const Dim& b) {
  switch (op) {
    case DimensionOperation::kSUM:
      return a + b;
    case DimensionOperation::kPROD:
      return a * b;
    case DimensionOperation::kMAX:
      return max(a, b);
    case DimensionOperation::kMIN:
      return min(a, b);
    case DimensionOperation::kSUB:
      return a - b;
    case DimensionOperation::kEQUAL:
      return Dim(1) - less(a, b) - less(b, a);
    case DimensionOperation::kLESS:
      return less(a, b);
    case DimensionOperation::kFLOOR_DIV:
      return floorDiv(a, b);
    case DimensionOperation::kCEIL_DIV:
      return ceilDiv(a, b);
  }
  fail(ErrorKind::kInvalidArgument, "there is no operation ", static_cast<int>(op), " of sizes");
}

// Whether a result grows with both operands, so that upper bounds give an upper bound.
bool grows(DimensionOperation op) {
  return op == DimensionOperation::kSUM || op == DimensionOperation::kPROD ||
         op == DimensionOperation::kMAX || op == DimensionOperation::kMIN;
}
bool isDivision(DimensionOperation op) {
  return op == DimensionOperation::kFLOOR_DIV || op == DimensionOperation::kCEIL_DIV;
}

const Expression& own(const nvinfer1::IDimensionExpr& expression) {
  return static_cast<const Expression&>(expression);
}

}  // namespace

int64_t Expression::getConstantValue() const noexcept {
  return dim_.isConstant() ? dim_.value() : std::numeric_limits<int64_t>::min();
}

const Expression* Expressions::add(Dim dim, bool isSize, bool followsSize) {
  return &expressions_.emplace_back(std::move(dim), isSize, followsSize);
}

template <class F>
const Expression* Expressions::attempt(F&& make) noexcept {
  try {
    return make();
  } catch (const std::exception& error) {
    if (failure_.empty()) failure_ = error.what();
    return nullptr;
  }
}

nvinfer1::DimsExprs Expressions::of(const Shape& shape) {
  if (shape.size() > nvinfer1::Dims::MAX_DIMS)
    fail(ErrorKind::kUnsupported, "plugins take at most ", nvinfer1::Dims::MAX_DIMS,
         " sizes of a tensor, and one has ", shape.size());
  nvinfer1::DimsExprs exprs{static_cast<int32_t>(shape.size()), {}};
  for (size_t i = 0; i < shape.size(); ++i) exprs.d[i] = add(shape[i]);
  return exprs;
}

Shape Expressions::shapeOf(const nvinfer1::DimsExprs& given, int32_t output) const {
  requireSound();
  if (given.nbDims < 0 || given.nbDims > nvinfer1::Dims::MAX_DIMS)
    fail(ErrorKind::kInvalidArgument, "it gives its output ", output, " ", given.nbDims,
         " dimensions");
  Shape shape;
  for (int32_t i = 0; i < given.nbDims; ++i) {
    if (!given.d[i])
      fail(ErrorKind::kInvalidArgument, "it gives its output ", output, " no dimension ", i);
    shape.push_back(own(*given.d[i]).dim());
    if (shape.back().isConstant() && shape.back().value() < 0)
      fail(ErrorKind::kInvalidArgument, "it gives its output ", output, " a dimension of size ",
           shape.back().value());
  }
  return shape;
}

void Expressions::requireSound() const {
  if (!failure_.empty()) fail(ErrorKind::kInvalidArgument, failure_);
}

const nvinfer1::IDimensionExpr* Expressions::constant(int64_t value) noexcept {
  return attempt([&] { return add(value); });
}

const nvinfer1::IDimensionExpr* Expressions::operation(
    DimensionOperation op, const nvinfer1::IDimensionExpr& first,
    const nvinfer1::IDimensionExpr& second) noexcept {
  return attempt([&] {
    const Expression &a = own(first), &b = own(second);
    const bool isBounded = grows(op) || (isDivision(op) && !b.followsSize()) ||
                           (op == DimensionOperation::kSUB && !b.followsSize());
    const bool followsSize = a.followsSize() || b.followsSize();
    if (followsSize && !isBounded)
      fail(ErrorKind::kUnsupported,
           "a size is computed from a size tensor such that the tensor's upper bound is none of "
           "it: sums, products, minima and maxima may be");
    if (isDivision(op) && b.dim().isConstant(0))
      fail(ErrorKind::kInvalidArgument, "a size is divided by 0");
    return add(apply(op, a.dim(), b.dim()), false, followsSize);
  });
}

const nvinfer1::IDimensionExpr* Expressions::declareSizeTensor(
    int32_t outputIndex, const nvinfer1::IDimensionExpr& /*opt*/,
    const nvinfer1::IDimensionExpr& upper) noexcept {
  return attempt([&] {
    if (own(upper).followsSize())
      fail(ErrorKind::kUnsupported, "the upper bound of a size tensor depends on another one");
    const Dim symbol = Dim::symbol(str("size tensor ", outputIndex));
    sizes_.push_back({outputIndex, symbol, own(upper).dim()});
    return add(symbol, true, true);
  });
}

}  // namespace camshaft::api
