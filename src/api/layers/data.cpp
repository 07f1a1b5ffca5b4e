#include "api/layers/data.h"

#include <algorithm>

#include "ops/index.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::api {

using nvinfer1::GatherMode;
using nvinfer1::ScatterMode;

void ConstantParams::take(const nvinfer1::Weights& given) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; }))
    fail(ErrorKind::kInvalidArgument, "a constant cannot have dimensions [", join(dims, ", "), "]");
  if (given.count != countOf(dims))
    fail(ErrorKind::kInvalidArgument, "a constant of dimensions [", join(dims, ", "), "] needs ",
         countOf(dims), " weights and was given ", given.count);
  weights = WeightsCopy(given);
}

std::vector<Value*> ConstantParams::emit(Emission& at) const {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; }))
    at.invalid("has a constant of dimensions [", join(dims, ", "), "]");
  if (weights.empty() && countOf(dims) == 0)
    return {at.graph.addConstant(at.name, {weights.type, makeShape(dims)}, ConstantData::own({}))};
  return {weights.constant(at, "constant", weights.type, dims)};
}

std::vector<Value*> ShapeParams::emit(Emission& at) const {
  ShapeAttrs attrs;
  attrs.end = at.input(0)->rank();
  return {at.add(&ops::Shape, {at.input(0)}, std::move(attrs))};
}

std::vector<Value*> ConcatenationParams::emit(Emission& at) const {
  for (size_t i = 0; i < at.inputs.size(); ++i) at.input(i);
  ConcatAttrs attrs;
  attrs.axis = axisIn(at, axis, at.input(0)->rank());
  return {at.add(&ops::Concat, at.inputs, std::move(attrs))};
}

std::optional<Shape> ConcatenationParams::pendingSizes(const Emission& at) const {
  const Value* first = at.input(0);
  for (const Value* other : at.inputs)
    if (other->rank() != first->rank() || other->dataType() != first->dataType()) return {};
  return first->shape();
}

void ConcatenationParams::read(const Node& node) { axis = node.as<ConcatAttrs>().axis; }

namespace {

// Whether indices along the axis are more than the elements beside it. The axis is set once the
// layer is there, so that is a problem of the build.
bool hasSurplus(Emission& at, int64_t axis) {
  const Shape &data = at.input(0)->shape(), &indices = at.input(1)->shape();
  for (size_t i = 0; i < std::min(data.size(), indices.size()); ++i) {
    const Dim surplus = indices[i] - data[i];
    if (static_cast<int64_t>(i) == axis || !surplus.isConstant() || surplus.value() <= 0) continue;
    at.lacks("works along axis ", axis, " and has ", indices[i], " indices for the ", data[i],
             " elements of dimension ", i, "; set another axis");
    return true;
  }
  return false;
}

// The tensor with its first dimension, where that is 1, repeated.
Value* repeated(Emission& at, Value* x, const Dim& batch) {
  if (x->shape()[0] != Dim(1) || batch == Dim(1)) return x;
  ExpandAttrs attrs;
  attrs.shape = x->shape();
  attrs.shape[0] = batch;
  return at.add(&ops::Expand, {x}, std::move(attrs));
}

// Of data and indices that share their first dimension. Indices into one dimension are tuples of
// one, once that dimension follows the shared one; theirs come out in front of the data's.
Value* gatherInEach(Emission& at, int64_t axis) {
  Value *data = at.input(0), *indices = at.input(1);
  const Dim batch = data->shape()[0] == Dim(1) ? indices->shape()[0] : data->shape()[0];
  data = repeated(at, data, batch);
  indices = repeated(at, indices, batch);
  const int64_t rank = data->rank(), places = indices->rank() - 1;
  std::vector<int64_t> inFront{0, axis}, back{0};
  for (int64_t d = 1; d < rank; ++d)
    if (d != axis) inFront.push_back(d);
  for (int64_t d = 1; d < axis; ++d) back.push_back(places + d);
  for (int64_t d = 1; d <= places; ++d) back.push_back(d);
  for (int64_t d = axis; d < rank - 1; ++d) back.push_back(places + d);
  Shape tuples = indices->shape();
  tuples.push_back(1);
  GatherNDAttrs attrs;
  attrs.batchDims = 1;
  attrs.zeroOutside = true;
  Value* found =
      at.add(&ops::GatherND, {at.transpose(data, inFront), at.reshape(indices, std::move(tuples))},
             std::move(attrs));
  return at.transpose(found, std::move(back));
}

}  // namespace

std::vector<Value*> GatherParams::emit(Emission& at) const {
  Value *data = at.input(0), *indices = at.input(1);
  if (mode == GatherMode::kND) {
    GatherNDAttrs attrs;
    attrs.batchDims = elementWiseDims;
    attrs.zeroOutside = true;
    return {at.add(&ops::GatherND, {data, indices}, std::move(attrs))};
  }
  if (mode != GatherMode::kDEFAULT && mode != GatherMode::kELEMENT)
    at.invalid("was given an unknown gather mode ", static_cast<int>(mode));
  if (elementWiseDims < 0 || elementWiseDims > (mode == GatherMode::kDEFAULT ? 1 : 0))
    at.invalid("cannot share ", elementWiseDims, " dimensions of data and indices in its mode");
  const int64_t resolved = axisIn(at, axis, data->rank());
  if (elementWiseDims == 1 && resolved > 0 && indices->rank() > 0)
    return {gatherInEach(at, resolved)};
  if (elementWiseDims == 1)
    at.lacks("shares the first dimension of data and indices; set an axis after it");
  if (mode == GatherMode::kELEMENT) {
    if (hasSurplus(at, resolved)) return {at.cast(indices, data->dataType())};
    GatherElementsAttrs attrs;
    attrs.axis = resolved;
    attrs.zeroOutside = true;
    return {at.add(&ops::GatherElements, {data, indices}, std::move(attrs))};
  }
  GatherAttrs attrs;
  attrs.axis = resolved;
  attrs.zeroOutside = true;
  return {at.add(&ops::Gather, {data, indices}, std::move(attrs))};
}

void GatherParams::read(const Node& node) {
  if (node.op == &ops::Gather) {
    mode = GatherMode::kDEFAULT, axis = node.as<GatherAttrs>().axis;
  } else if (node.op == &ops::GatherElements) {
    mode = GatherMode::kELEMENT, axis = node.as<GatherElementsAttrs>().axis;
  } else {
    mode = GatherMode::kND, elementWiseDims = node.as<GatherNDAttrs>().batchDims;
  }
}

std::vector<Value*> ScatterParams::emit(Emission& at) const {
  requireKnown(mode, "scatter mode");
  std::vector<Value*> operands{at.input(0), at.input(1), at.input(2)};
  if (mode == ScatterMode::kND) return {at.add(&ops::ScatterND, operands, ScatterNDAttrs{})};
  ScatterElementsAttrs attrs;
  attrs.axis = axisIn(at, axis, at.input(0)->rank());
  if (hasSurplus(at, attrs.axis)) return {at.add(&ops::Identity, {operands[0]}, NoAttrs{})};
  return {at.add(&ops::ScatterElements, operands, std::move(attrs))};
}

bool ScatterParams::canRead(const Node& node) {
  return (node.op == &ops::ScatterND &&
          node.as<ScatterNDAttrs>().reduction == ScatterReduction::kNone) ||
         (node.op == &ops::ScatterElements &&
          node.as<ScatterElementsAttrs>().reduction == ScatterReduction::kNone);
}

void ScatterParams::read(const Node& node) {
  mode = node.op == &ops::ScatterND ? ScatterMode::kND : ScatterMode::kELEMENT;
  axis = mode == ScatterMode::kND ? 0 : node.as<ScatterElementsAttrs>().axis;
}

std::vector<Value*> ReverseSequenceParams::emit(Emission& at) const {
  Value *x = at.input(0), *lengths = at.input(1);
  ReverseSequenceAttrs attrs;
  attrs.batchAxis = axisIn(at, batchAxis, x->rank());
  attrs.timeAxis = axisIn(at, sequenceAxis, x->rank());
  const Dim entries = x->shape()[attrs.batchAxis];
  if (lengths->rank() != 1) at.invalid("needs a vector of lengths and got ", lengths->type);
  const bool differ =
      entries.isConstant() && lengths->shape()[0].isConstant() && !(entries == lengths->shape()[0]);
  if (!differ && attrs.batchAxis != attrs.timeAxis)
    return {at.add(&ops::ReverseSequence, {x, lengths}, std::move(attrs))};
  // The axes are set one after the other, once the layer is there.
  if (differ)
    at.lacks("has ", lengths->shape()[0], " lengths for the ", entries,
             " entries of its batch axis ", attrs.batchAxis, "; call setBatchAxis");
  else
    at.lacks("has ", attrs.timeAxis, " for both of its axes");
  return {at.add(&ops::Identity, {x}, NoAttrs{})};
}

void ReverseSequenceParams::read(const Node& node) {
  batchAxis = node.as<ReverseSequenceAttrs>().batchAxis;
  sequenceAxis = node.as<ReverseSequenceAttrs>().timeAxis;
}

std::vector<Value*> OneHotParams::emit(Emission& at) const {
  const std::vector<Dim> depth = at.dims(2);
  if (depth.size() != 1) at.invalid("needs one depth and its input 2 holds ", depth.size());
  OneHotAttrs attrs;
  attrs.axis = axisIn(at, axis, at.input(0)->rank() + 1);
  attrs.depth = depth[0];
  return {at.add(&ops::OneHot, {at.input(0), at.input(1)}, std::move(attrs))};
}

}  // namespace camshaft::api
