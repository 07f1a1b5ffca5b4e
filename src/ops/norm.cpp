#include "ops/norm.h"

#include <algorithm>
#include <cmath>

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

// values * scale + bias, with inputs 1 and 2 read through `strides` of the index over x.
template <class StridesOf>
void scaleAndShift(const Evaluation& evaluation, std::vector<double>& values,
                   StridesOf&& stridesUnderX) {
  const Node& node = evaluation.node;
  for (int input : {1, 2}) {
    if (!node.hasInput(input)) continue;
    const std::vector<double> operand = readReals(evaluation.inputs[input]);
    const Dims strides = stridesUnderX(evaluation.inputs[input].dims);
    double* value = values.data();
    forEachIndex(evaluation.inputs[0].dims, [&](const Dims& index) {
      const double x = operand[offsetOf(index, strides)];
      *value = input == 1 ? *value * x : *value + x;
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

void evaluateLayerNorm(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<LayerNormAttrs>();
  const std::span<const int64_t> dims = evaluation.inputs[0].dims;
  const int64_t size = countOf(dims.subspan(attrs.axis));
  std::vector<double> values = readReals(evaluation.inputs[0]);
  std::vector<int64_t> offsets(size);
  for (int64_t row = 0; row < countOf(dims.first(attrs.axis)); ++row) {
    for (int64_t i = 0; i < size; ++i) offsets[i] = row * size + i;
    normalise(values, offsets, attrs.epsilon, attrs.rms);
  }
  scaleAndShift(evaluation, values,
                [&](const Dims& operand) { return broadcastStrides(operand, dims); });
  writeReals(evaluation.outputs[0], values);
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
  scaleAndShift(evaluation, values, [&](const Dims&) {
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

const OpInfo ops::LayerNorm = {
    "LayerNorm", 1, 3, 1, makeAttrsOf<LayerNormAttrs>, inferLayerNorm, evaluateLayerNorm};
const OpInfo ops::GroupNorm = {
    "GroupNorm", 1, 3, 1, makeAttrsOf<GroupNormAttrs>, inferGroupNorm, evaluateGroupNorm};
const OpInfo ops::Lrn = {"Lrn", 1, 1, 1, makeAttrsOf<LrnAttrs>, inferLrn, evaluateLrn};

}  // namespace camshaft
