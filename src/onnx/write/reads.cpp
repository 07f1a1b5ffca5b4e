#include "onnx/write/reads.h"

#include <algorithm>

namespace camshaft::onnx::writer {

void collectDefined(const onnx::Graph& graph, std::unordered_set<std::string>& names) {
  for (const auto& tensor : graph.initializers) names.emplace(tensor.name);
  for (const auto& tensor : graph.sparseInitializers) names.emplace(tensor.values.name);
  for (const auto& info : graph.inputs) names.emplace(info.name);
  for (const auto& node : graph.nodes) {
    for (const std::string_view output : node.outputs) names.emplace(output);
    for (const auto& attribute : node.attributes)
      for (const auto& inner : attribute.graphs) collectDefined(inner, names);
  }
}

void collectReads(const onnx::Graph& graph, std::unordered_set<std::string_view>& names) {
  for (const auto& output : graph.outputs) names.insert(output.name);
  for (const auto& node : graph.nodes) {
    names.insert(node.inputs.begin(), node.inputs.end());
    for (const auto& attribute : node.attributes)
      for (const auto& inner : attribute.graphs) collectReads(inner, names);
  }
}

void renameReads(onnx::Graph& graph, Renames renames) {
  const auto hide = [&](std::string_view name) { renames.erase(name); };
  for (const auto& info : graph.inputs) hide(info.name);
  for (const auto& tensor : graph.initializers) hide(tensor.name);
  for (const auto& tensor : graph.sparseInitializers) hide(tensor.values.name);
  for (const auto& node : graph.nodes)
    std::for_each(node.outputs.begin(), node.outputs.end(), hide);
  const auto rename = [&](std::string_view& name) {
    if (const auto it = renames.find(name); it != renames.end()) name = it->second;
  };
  for (auto& node : graph.nodes) {
    std::for_each(node.inputs.begin(), node.inputs.end(), rename);
    for (auto& attribute : node.attributes)
      for (auto& inner : attribute.graphs) renameReads(inner, renames);
  }
  for (auto& output : graph.outputs) rename(output.name);
}

}  // namespace camshaft::onnx::writer
