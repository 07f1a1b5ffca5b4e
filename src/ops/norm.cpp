#include "ops/norm.h"

#include <algorithm>
#include <cmath>

#include "ops/evaluate.h"
#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/walk.h"
#include "ops/window.h"

namespace camshaft {

namespace {

// (x - mean) / sqrt(variance + epsilon) of the values at these offsets; without the mean for rms.
void normalise(std::vector<double>& values, const std::vector<int64_t>& offsets, double epsilon,
               bool rms) {
  double mean = 0, variance = 0;
  if (!rms)
    for (int64_t at : offsets) mean += values[at] / offsets.size();
  for (int64_t at : offsets) variance += (values[at] - mean) * (values[at] - mean) / offsets.size();
  const double scale = 1 / std::sqrt(variance + epsilon);
  for (int64_t at : offsets) values[at] = (values[at] - mean) * scale;
}

// values * scale + bias, with inputs `scale` and scale + 1 read through `strides` of the index over
// the result.
template <class StridesOf>
void scaleAndShift(const Evaluation& evaluation, int scale, std::vector<double>& values,
                   StridesOf&& stridesUnderResult) {
  for (int input : {scale, scale + 1}) {
    if (!evaluation.node.hasInput(input)) continue;
    const std::vector<double> operand = readReals(evaluation.inputs[input]);
    const Dims strides = stridesUnderResult(evaluation.inputs[input].dims);
    double* value = values.data();
    forEachIndex(evaluation.outputs[0].dims, [&](const Dims& index) {
      const double x = operand[offsetOf(index, strides)];
      *value = input == scale ? *value * x : *value + x;
      ++value;
    });
  }
}

std::vector<TensorType> inferLayerNorm(const Node& node) {
  const TensorType& x = node.inputs[0]->type;
  requireAxis(node, node.as<LayerNormAttrs>().axis);
  requireFloat(node, 0);
  for (int input : {1, 2})
    if (node.hasInput(input)) requireBroadcastsTo(node, input, "a scale or bias", x.shape);
  return {x};
}

// LayerNorm of the values, which have the shape of output 0.
template <class Attrs>
std::vector<double> normalisedLast(const Evaluation& evaluation, const Attrs& attrs,
                                   std::vector<double> values, int scale) {
  const std::span<const int64_t> dims = evaluation.outputs[0].dims;
  const int64_t size = countOf(dims.subspan(attrs.axis));
  std::vector<int64_t> offsets(size);
  for (int64_t row = 0; row < countOf(dims.first(attrs.axis)); ++row) {
    for (int64_t i = 0; i < size; ++i) offsets[i] = row * size + i;
    normalise(values, offsets, attrs.epsilon, attrs.rms);
  }
  scaleAndShift(evaluation, scale, values,
                [&](const Dims& operand) { return broadcastStrides(operand, dims); });
  return values;
}

void evaluateLayerNorm(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<LayerNormAttrs>();
  writeReals(evaluation.outputs[0],
             normalisedLast(evaluation, attrs, readReals(evaluation.inputs[0]), 1));
}

std::vector<TensorType> inferPointwiseNorm(const Node& node) {
  const auto& attrs = node.as<PointwiseNormAttrs>();
  const int operands = attrs.expr.inputCount();
  if (attrs.expr.empty() || node.ownInputs() < operands || operands == 0)
    fail(ErrorKind::kInvalidModel, describe(node), " has ", node.ownInputs(),
         " inputs where its expression reads ", operands);
  TensorType type{attrs.expr.resultType(), {}};
  for (int i = 0; i < operands; ++i) {
    if (!node.hasInput(i) || node.input(i)->dataType() != attrs.expr.inputType(i))
      fail(ErrorKind::kInvalidModel, describe(node), " reads input ", i, " as ",
           attrs.expr.inputType(i), ", which it is not");
    type.shape = broadcastShapes(type.shape, node.input(i)->shape(), describe(node));
  }
  if (!isFloat(type.type) || attrs.axis < 0 || attrs.axis >= type.rank())
    fail(ErrorKind::kInvalidModel, describe(node), " can't normalise ", type, " from dimension ",
         attrs.axis, " on");
  for (int input : {attrs.scaleInput(), attrs.biasInput()})
    if (node.hasInput(input)) requireBroadcastsTo(node, input, "a scale or bias", type.shape);
  return std::vector<TensorType>(attrs.outputs(), type);
}

void evaluatePointwiseNorm(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<PointwiseNormAttrs>();
  HostTensor value(attrs.expr.resultType(), evaluation.outputs[0].dims);
  evaluateExpr(attrs.expr, evaluation.inputs.first(attrs.expr.inputCount()), value.view());
  const std::vector<double> values = readReals(value.view());
  if (attrs.keepsValue) writeReals(evaluation.outputs[attrs.valueOutput()], values);
  const std::vector<double> result = normalisedLast(evaluation, attrs, values, attrs.scaleInput());
  if (attrs.keepsResult) writeReals(evaluation.outputs[attrs.resultOutput()], result);
  writeReals(evaluation.outputs[0], result);
}

std::vector<TensorType> inferRowMoments(const Node& node) {
  const TensorType& x = node.inputs[0]->type;
  requireFloat(node, 0);
  if (!hasMoments(x.shape))
    fail(ErrorKind::kInvalidModel, describe(node), " takes rows of a multiple of ", kMomentColumns,
         " elements, not ", x);
  return {{DataType::kF32, momentsShape(x.shape)}};
}

void evaluateRowMoments(const Evaluation& evaluation) {
  writeReals(evaluation.outputs[0], momentsOfRows(readReals(evaluation.inputs[0])));
}

std::vector<TensorType> inferGroupNorm(const Node& node) {
  const auto& attrs = node.as<GroupNormAttrs>();
  const TensorType& x = node.inputs[0]->type;
  requireFloat(node, 0);
  if (x.rank() < 2)
    fail(ErrorKind::kInvalidModel, describe(node),
         " needs a batch and a channel dimension and got ", x);
  const Dim& channels = x.shape[ImageLayout{attrs.channelsLast, x.rank()}.channelAxis()];
  if (attrs.groups < 0 || (attrs.groups > 0 && !mayBeEqual(mod(channels, attrs.groups), 0)))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", channels,
         " channels, which do not divide into ", attrs.groups, " groups");
  if (attrs.groups > 0) requireMultiple(node, channels, "channels", attrs.groups);
  for (int input : {1, 2})
    if (node.hasInput(input)) requireShape(node, input, "a scale or bias", {channels});
  return {x};
}

void evaluateGroupNorm(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<GroupNormAttrs>();
  const Dims& dims = evaluation.inputs[0].dims;
  const ImageView image(dims, attrs.channelsLast);
  const int64_t groups = attrs.groups == 0 ? image.channels : attrs.groups;
  const int64_t groupChannels = groups == 0 ? 0 : image.channels / groups;
  std::vector<double> values = readReals(evaluation.inputs[0]);
  std::vector<int64_t> offsets;
  for (int64_t n = 0; n < image.batch; ++n) {
    for (int64_t group = 0; group < groups; ++group) {
      offsets.clear();
      for (int64_t c = group * groupChannels; c < (group + 1) * groupChannels; ++c)
        forEachIndex(image.spatial, [&](const Dims& position) {
          offsets.push_back(n * image.batchStride + c * image.channelStride +
                            offsetOf(position, image.spatialStrides));
        });
      normalise(values, offsets, attrs.epsilon, false);
    }
  }
  scaleAndShift(evaluation, 1, values, [&](const Dims&) {
    Dims strides(dims.size(), 0);
    strides[ImageLayout{attrs.channelsLast, static_cast<int64_t>(dims.size())}.channelAxis()] = 1;
    return strides;
  });
  writeReals(evaluation.outputs[0], values);
}

std::vector<TensorType> inferLrn(const Node& node) {
  requireFloat(node, 0);
  requireAxis(node, 1);
  if (node.as<LrnAttrs>().size < 1)
    fail(ErrorKind::kInvalidModel, describe(node), " has size ", node.as<LrnAttrs>().size,
         ", which must be positive");
  return {node.inputs[0]->type};
}

void evaluateLrn(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<LrnAttrs>();
  const std::vector<double> x = readReals(evaluation.inputs[0]);
  std::vector<double> y(x.size());
  const AxisView view(evaluation.inputs[0].dims, 1);
  const int64_t before = (attrs.size - 1) / 2, after = attrs.size - 1 - before;
  forEachRow(view, [&](int64_t first, int64_t step) {
    for (int64_t c = 0; c < view.size; ++c) {
      double squares = 0;
      for (int64_t i = std::max<int64_t>(0, c - before); i <= std::min(view.size - 1, c + after);
           ++i)
        squares += x[first + i * step] * x[first + i * step];
      y[first + c * step] = x[first + c * step] /
                            std::pow(attrs.bias + attrs.alpha / attrs.size * squares, attrs.beta);
    }
  });
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

bool hasMoments(const Shape& rows) {
  return !rows.empty() && rows.back().isConstant() && rows.back().value() > 0 &&
         rows.back().value() % kMomentColumns == 0;
}

Shape momentsShape(const Shape& rows) {
  Shape shape = rows;
  shape.back() = rows.back().value() / kMomentColumns;
  shape.push_back(2);
  return shape;
}

std::vector<double> momentsOfRows(const std::vector<double>& values) {
  std::vector<double> moments;
  for (size_t first = 0; first < values.size(); first += kMomentColumns) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < kMomentColumns; ++i) mean += values[first + i] / kMomentColumns;
    for (int64_t i = 0; i < kMomentColumns; ++i)
      squares += (values[first + i] - mean) * (values[first + i] - mean);
    moments.insert(moments.end(), {mean, squares});
  }
  return moments;
}

const OpInfo ops::LayerNorm = {
    "LayerNorm", 1, 3, 1, makeAttrsOf<LayerNormAttrs>, inferLayerNorm, evaluateLayerNorm};
const OpInfo ops::PointwiseNorm = {
    "PointwiseNorm",      1, -1, -1, makeAttrsOf<PointwiseNormAttrs>, inferPointwiseNorm,
    evaluatePointwiseNorm};
const OpInfo ops::RowMoments = {"RowMoments",      1, 1, 1, makeAttrsOf<NoAttrs>, inferRowMoments,
                                evaluateRowMoments};
const OpInfo ops::GroupNorm = {
    "GroupNorm", 1, 3, 1, makeAttrsOf<GroupNormAttrs>, inferGroupNorm, evaluateGroupNorm};
const OpInfo ops::Lrn = {"Lrn", 1, 1, 1, makeAttrsOf<LrnAttrs>, inferLrn, evaluateLrn};

}  // namespace camshaft
