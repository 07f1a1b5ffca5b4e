// From a network to a plan: what its marks and formats ask of the build.
#include <algorithm>

#include "api/formats.h"
#include "api/network.h"
#include "compiler/compile.h"
#include "compiler/refit.h"
#include "ops/observe.h"

namespace camshaft::api {

Graph Network::graphFor(CompileOptions& options) const {
  options.observeUnfused = marksUnfused_;
  for (size_t i = 0; i < graph_.inputs.size(); ++i)
    for (ShapeProfile& profile : options.profiles)
      storeProfile(profile, *graph_.inputs[i], formatOf(graph_.inputs[i]));
  return graphToBuild();
}

Plan Network::compiled(CompileOptions options, const std::optional<RefitRequest>& refit) const {
  Graph graph = graphFor(options);
  Plan plan = refit ? compileRefittable(graph, std::move(options), *refit)
                    : compile(std::move(graph), std::move(options));
  for (size_t i = 0; i < graph_.inputs.size(); ++i)
    plan.inputs[i].format = ioFormat(formatOf(graph_.inputs[i]), graph_.inputs[i]->shape());
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const Value* value = graph_.outputs[i].value;
    plan.outputs[i].format = ioFormat(formatOf(value), value->shape());
    const auto tensor = tensorOfValue_.find(value);
    plan.outputs[i].isShapeTensor = tensor != tensorOfValue_.end() &&
                                    tensor->second->isShapeOutput() &&
                                    !plan.profiles[0].outputValues[i].empty();
  }
  return plan;
}

TensorRanges Network::tensorRanges() const {
  TensorRanges ranges;
  for (const auto& tensor : tensors_)
    if (tensor->value() && tensor->range()) ranges.emplace(tensor->value()->name, *tensor->range());
  return ranges;
}

void Network::setPrecisions(const std::map<std::string, DataType>& layers,
                            const TensorRanges& ranges) {
  for (LayerCore* layer : listing()) {
    const auto asked = layers.find(layer->name);
    if (asked != layers.end()) layer->precision.compute = asked->second;
  }
  for (const auto& [name, range] : ranges)
    if (Value* value = graph_.find(name)) tensorOf(value)->setDynamicRange(range.min, range.max);
}

bool Network::hasQuantization() const {
  return std::ranges::any_of(listing(), [](const LayerCore* layer) {
    return layer->type == nvinfer1::LayerType::kQUANTIZE ||
           layer->type == nvinfer1::LayerType::kDEQUANTIZE ||
           layer->type == nvinfer1::LayerType::kDYNAMIC_QUANTIZE;
  });
}

nvinfer1::TensorFormat Network::formatOf(const Value* value) const {
  const auto tensor = tensorOfValue_.find(value);
  return tensor == tensorOfValue_.end() ? nvinfer1::TensorFormat::kLINEAR
                                        : tensor->second->format();
}

void Network::storeBorders(Graph& copy) const {
  for (size_t i = 0; i < graph_.outputs.size(); ++i)
    storeOutput(copy, i, formatOf(graph_.outputs[i].value));
  for (size_t i = 0; i < graph_.inputs.size(); ++i) storeInput(copy, i, formatOf(graph_.inputs[i]));
}

void Network::observeMarked(Graph& copy) const {
  for (const auto& tensor : tensors_) {
    if (!tensor->value() || !tensor->isDebug()) continue;
    ObserveAttrs attrs;
    attrs.tensor = tensor->value()->name;
    addObserve(copy, copy.find(attrs.tensor), attrs);
  }
}

}  // namespace camshaft::api
