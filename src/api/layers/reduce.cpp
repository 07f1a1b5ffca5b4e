#include "api/layers/reduce.h"

#include <limits>

#include "onnx/formula.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/norm.h"
#include "ops/shape.h"
#include "ops/softmax.h"

namespace camshaft::api {

using namespace onnx::importer;  // Formula and Term
using nvinfer1::ReduceOperation;

std::vector<Value*> SoftMaxParams::emit(Emission& at) const {
  SoftmaxAttrs attrs;
  attrs.axis = onlyAxis(at, axes);
  return {at.add(&ops::Softmax, {at.input(0)}, std::move(attrs))};
}

void SoftMaxParams::read(const Node& node) { axes = 1u << node.as<SoftmaxAttrs>().axis; }

std::vector<Value*> RaggedSoftMaxParams::emit(Emission& at) const {
  Value *x = at.input(0), *bounds = at.input(1);
  if (x->rank() < 2) at.invalid("needs rows of elements and got ", x->type);
  Shape oneEach = x->shape();
  oneEach.back() = 1;
  if (bounds->shape() != oneEach || !isInteger(bounds->dataType()))
    at.invalid("needs the lengths of its rows as integers ", toString(oneEach), " and got ",
               bounds->type);
  RangeAttrs range;
  range.count = x->shape().back();
  Value* positions = at.add(
      &ops::Range, {at.scalar(DataType::kI32, 0), at.scalar(DataType::kI32, 1)}, std::move(range));
  const std::vector<Value*> ends{positions, at.cast(bounds, DataType::kI32)};
  const auto within = [&](Value* values, double otherwise) {
    Formula f;
    const Term inside = f.input(0, DataType::kI32) < f.input(1, DataType::kI32);
    const Term value = f.input(2, values->dataType());
    return at.pointwise({ends[0], ends[1], values}, f.take(where(inside, value, otherwise)));
  };
  SoftmaxAttrs attrs;
  attrs.axis = x->rank() - 1;
  Value* rows = within(x, -std::numeric_limits<double>::infinity());
  return {within(at.add(&ops::Softmax, {rows}, std::move(attrs)), 0)};
}

// Scale or bias of a group normalisation as one value per channel: [C], from that many elements or
// from one per group.
Value* NormalizationParams::channelVector(Emission& at, size_t input, int64_t channels) const {
  Value* x = at.input(input);
  const Dim count = numElements(x->shape());
  if (count.isConstant(channels)) return at.reshape(x, {channels});
  if (perChannel || !count.isConstant(groups))
    at.invalid("needs ", perChannel ? channels : groups, " elements in its input ", input,
               " and got ", x->type);
  ExpandAttrs expand;
  expand.shape = {groups, channels / groups};
  Value* perGroup = at.add(&ops::Expand, {at.reshape(x, {groups, 1})}, std::move(expand));
  return at.reshape(perGroup, {channels});
}

std::vector<Value*> NormalizationParams::emit(Emission& at) const {
  Value* x = at.input(0);
  if (groups < 1) at.invalid("was given ", groups, " groups");
  if (groups > 1) {
    if (x->rank() < 3 || !x->shape()[1].isConstant() || x->shape()[1].value() % groups)
      at.invalid("cannot divide the channels of ", x->type, " into ", groups, " groups");
    const int64_t channels = x->shape()[1].value();
    GroupNormAttrs attrs;
    attrs.groups = groups;
    attrs.epsilon = epsilon;
    return {at.add(&ops::GroupNorm,
                   {x, channelVector(at, 1, channels), channelVector(at, 2, channels)},
                   std::move(attrs))};
  }
  const std::vector<int64_t> list = axesOf(axes);
  if (list.empty() || list.back() >= x->rank())
    at.invalid("normalises over axes that ", x->type, " lacks");
  if (list.back() != x->rank() - 1 ||
      list.back() - list.front() + 1 != static_cast<int64_t>(list.size()))
    at.unsupported("normalises over axes [", join(list, ", "),
                   "]; only the last ones, without gaps, are supported");
  LayerNormAttrs attrs;
  attrs.axis = list.front();
  attrs.epsilon = epsilon;
  return {at.add(&ops::LayerNorm, {x, at.input(1), at.input(2)}, std::move(attrs))};
}

void NormalizationParams::read(const Node& node) {
  perChannel = true;
  const int64_t rank = node.input(0)->rank();
  int64_t first = 2;
  if (node.op == &ops::LayerNorm) {
    epsilon = static_cast<float>(node.as<LayerNormAttrs>().epsilon);
    first = node.as<LayerNormAttrs>().axis;
  } else {
    epsilon = static_cast<float>(node.as<GroupNormAttrs>().epsilon);
    groups = node.as<GroupNormAttrs>().groups;
  }
  axes = 0;
  for (int64_t i = first; i < rank; ++i) axes |= 1u << i;
}

void NormalizationLayer::setComputePrecision(nvinfer1::DataType type) noexcept {
  if (type != nvinfer1::DataType::kFLOAT)
    reporter().error(nvinfer1::ErrorCode::kUNSUPPORTED_STATE,
                     str("layer '", name, "' normalises in kFLOAT, the only precision there is"));
}

std::vector<Value*> LRNParams::emit(Emission& at) const {
  if (window < 1) at.invalid("was given a window of ", window, " channels");
  Value* x = at.input(0);
  if (x->rank() < 3) at.invalid("needs channels, rows and columns and got ", x->type);
  const auto image = x->shape().end() - 3;
  Shape batches{numElements({x->shape().begin(), image})};
  batches.insert(batches.end(), image, x->shape().end());
  LrnAttrs attrs;
  attrs.size = window;
  attrs.alpha = alpha;
  attrs.beta = beta;
  attrs.bias = k;
  Value* y = at.add(&ops::Lrn, {at.reshape(x, std::move(batches))}, std::move(attrs));
  return {at.reshape(y, x->shape())};
}

void LRNParams::read(const Node& node) {
  const auto& attrs = node.as<LrnAttrs>();
  window = attrs.size;
  alpha = static_cast<float>(attrs.alpha);
  beta = static_cast<float>(attrs.beta);
  k = static_cast<float>(attrs.bias);
}

namespace {

constexpr std::pair<ReduceOperation, ReduceKind> kReductions[] = {
    {ReduceOperation::kSUM, ReduceKind::kSum},  {ReduceOperation::kPROD, ReduceKind::kProd},
    {ReduceOperation::kMAX, ReduceKind::kMax},  {ReduceOperation::kMIN, ReduceKind::kMin},
    {ReduceOperation::kAVG, ReduceKind::kMean},
};

}  // namespace

std::vector<Value*> ReduceParams::emit(Emission& at) const {
  ReduceAttrs attrs;
  bool known = false;
  for (const auto& [own, kind] : kReductions)
    if (own == operation) known = true, attrs.kind = kind;
  if (!known) at.invalid("cannot reduce with operation ", static_cast<int>(operation));
  attrs.axes = axesOf(axes);
  if (attrs.axes.empty()) at.invalid("has no axes to reduce");
  for (int64_t axis : attrs.axes) axisIn(at, axis, at.input(0)->rank());
  attrs.keepDims = keepDims;
  return {at.add(&ops::Reduce, {at.input(0)}, std::move(attrs))};
}

bool ReduceParams::hasOperation(ReduceKind kind) {
  for (const auto& reduction : kReductions)
    if (reduction.second == kind) return true;
  return false;
}

void ReduceParams::read(const Node& node) {
  const auto& attrs = node.as<ReduceAttrs>();
  for (const auto& [own, kind] : kReductions)
    if (kind == attrs.kind) operation = own;
  axes = maskOf(attrs.axes);
  keepDims = attrs.keepDims;
}

std::vector<Value*> TopKParams::emit(Emission& at) const {
  requireKnown(operation, "TopK operation");
  const DataType indicesType = indicesTypeIn(at, indices);
  Value* x = at.input(0);
  TopKAttrs attrs;
  attrs.axis = onlyAxis(at, axes);
  attrs.largest = operation == nvinfer1::TopKOperation::kMAX;
  attrs.k = k;
  if (at.has(1)) {
    const std::vector<Dim> given = at.dims(1);
    if (given.size() != 1) at.invalid("needs one k and its input 1 holds ", given.size());
    attrs.k = given[0];
  }
  const Dim& size = x->shape()[attrs.axis];
  if (attrs.k.isConstant() &&
      (attrs.k.value() < 1 || (size.isConstant() && attrs.k.value() > size.value())))
    at.invalid("cannot take the best ", attrs.k, " of ", size, " elements");
  Node* node = at.node(&ops::TopK, {x}, std::move(attrs));
  return {node->output(0), at.cast(node->output(1), indicesType)};
}

void TopKParams::read(const Node& node) {
  const auto& attrs = node.as<TopKAttrs>();
  operation = attrs.largest ? nvinfer1::TopKOperation::kMAX : nvinfer1::TopKOperation::kMIN;
  axes = 1u << attrs.axis;
  k = attrs.k;
  indices = nvinfer1::DataType::kINT64;
}

std::vector<Value*> CumulativeParams::emit(Emission& at) const {
  if (operation != nvinfer1::CumulativeOperation::kSUM)
    at.invalid("was given an unknown cumulative operation ", static_cast<int>(operation));
  const std::vector<int64_t> axis = at.constants(1, "axis");
  if (axis.size() != 1) at.invalid("needs one axis and got ", axis.size());
  CumSumAttrs attrs;
  attrs.axis = axisIn(at, axis[0], at.input(0)->rank());
  attrs.exclusive = exclusive;
  attrs.reverse = reverse;
  return {at.add(&ops::CumSum, {at.input(0)}, std::move(attrs))};
}

}  // namespace camshaft::api
