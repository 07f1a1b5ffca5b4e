#include "slim/bodies.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "onnx/wire/element_type.h"
#include "onnx/wire/tensor.h"
#include "onnx/write/reads.h"

namespace camshaft {

namespace {

using onnx::TracedNode;
using onnx::writer::collectDefined;
using onnx::writer::collectReads;

using Names = std::unordered_set<std::string>;

// Of the graph itself, not of the bodies inside it.
void collectOwnNames(const onnx::Graph& graph, Names& names) {
  for (const auto& info : graph.inputs) names.emplace(info.name);
  for (const auto& tensor : graph.initializers) names.emplace(tensor.name);
  for (const auto& tensor : graph.sparseInitializers) names.emplace(tensor.values.name);
  for (const auto& node : graph.nodes)
    for (const std::string_view output : node.outputs) names.emplace(output);
}

class BodySlimmer {
 public:
  BodySlimmer(const onnx::LoadedModel& model, const Names& outside)
      : model_(model), outside_(outside) {
    collectOwnNames(model.model.graph, outside_);
    for (const onnx::Tensor& tensor : model.model.graph.initializers)
      initializers_[tensor.name] = &tensor;
  }

  void node(onnx::Node& node, const TracedNode& traced) {
    for (onnx::Attribute& attribute : node.attributes)
      for (onnx::Graph& body : attribute.graphs) slimBody(body, traced);
  }

  SlimmedBodies take() { return std::move(made_); }

 private:
  void slimBody(onnx::Graph& body, const TracedNode& traced) {
    std::unordered_set<std::string_view> reads;
    collectReads(body, reads);
    onnx::LoadedModel whole{{}, model_.files};
    whole.model.irVersion = model_.model.irVersion;
    whole.model.opsetImports = model_.model.opsetImports;
    whole.model.functions = model_.model.functions;
    whole.model.graph = body;
    Names outside = outside_, captured;
    for (const TracedNode::Capture& capture : traced.captures) {
      if (!reads.contains(capture.name)) continue;
      outside.erase(std::string(capture.name));
      captured.emplace(capture.name);
      const auto constant = initializers_.find(capture.name);
      if (constant != initializers_.end())
        whole.model.graph.initializers.push_back(*constant->second);
      else
        whole.model.graph.inputs.push_back(inputFor(capture));
    }
    try {
      SlimModel slimmed = slim(std::move(whole), outside);
      onnx::Graph graph = slimmed.model().graph;
      if (nodesIn(graph) >= nodesIn(body)) return;
      graph.inputs = body.inputs;
      std::erase_if(graph.initializers, [&](const auto& tensor) { return isOutside(tensor); });
      Names defined;
      collectDefined(graph, defined);
      if (std::any_of(captured.begin(), captured.end(),
                      [&](const std::string& name) { return defined.contains(name); }))
        return;
      body = std::move(graph);
      made_.models.push_back(std::move(slimmed));
    } catch (const Error&) {  // then it stays as it is
    }
  }

  // Equal sizes have equal names.
  onnx::ValueInfo inputFor(const TracedNode::Capture& capture) {
    onnx::ValueInfo info;
    info.name = capture.name;
    info.type.kind = onnx::TypeKind::kTensor;
    info.type.elementType = onnx::onnxCodeOf(capture.value->dataType());
    info.type.shape.emplace();
    for (const Dim& dim : capture.value->shape()) {
      onnx::Dim& made = info.type.shape->emplace_back();
      if (dim.isConstant())
        made.value = dim.value();
      else
        made.param = made_.texts.emplace_back(toString(dim));
    }
    return info;
  }

  bool isOutside(const onnx::Tensor& tensor) const {
    const auto found = initializers_.find(tensor.name);
    if (found == initializers_.end()) return false;
    const onnx::Tensor& outside = *found->second;
    if (outside.dataType != tensor.dataType || outside.dims != tensor.dims) return false;
    const onnx::TensorBytes a = onnx::tensorData(outside, *model_.files),
                            b = onnx::tensorData(tensor, *model_.files);
    return a.bytes.size() == b.bytes.size() &&
           std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
  }

  const onnx::LoadedModel& model_;
  Names outside_;
  std::unordered_map<std::string_view, const onnx::Tensor*> initializers_;
  SlimmedBodies made_;
};

bool hasBodies(const onnx::Node& node) {
  return !node.outputs.empty() &&
         std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const onnx::Attribute& attribute) { return !attribute.graphs.empty(); });
}

}  // namespace

SlimmedBodies slimBodies(onnx::LoadedModel& model, const onnx::ImportTrace& trace,
                         const std::unordered_set<std::string>& outside) {
  std::unordered_map<std::string_view, const TracedNode*> makers;  // by name of the first output
  for (const TracedNode& traced : trace.nodes)
    if (hasBodies(traced.node)) makers[traced.node.outputs.front()] = &traced;
  if (makers.empty()) return {};
  BodySlimmer slimmer(model, outside);
  for (onnx::Node& node : model.model.graph.nodes)
    if (hasBodies(node))
      if (const auto made = makers.find(node.outputs.front()); made != makers.end())
        slimmer.node(node, *made->second);
  return slimmer.take();
}

}  // namespace camshaft
