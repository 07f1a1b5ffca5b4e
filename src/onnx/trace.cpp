// ModelImport's record of what each node became, and the nodes it keeps without knowing them.
#include "onnx/trace.h"

#include <set>

#include "onnx/model_import.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

namespace {

// Names that a subgraph reads and does not make, those of its own subgraphs included.
void collectFreeNames(const wire::Graph& graph, std::set<std::string_view> bound,
                      std::set<std::string_view>& free) {
  for (const auto& input : graph.inputs) bound.insert(input.name);
  for (const auto& tensor : graph.initializers) bound.insert(tensor.name);
  for (const auto& tensor : graph.sparseInitializers) bound.insert(tensor.values.name);
  for (const auto& node : graph.nodes) bound.insert(node.outputs.begin(), node.outputs.end());
  const auto read = [&](std::string_view name) {
    if (!name.empty() && !bound.contains(name)) free.insert(name);
  };
  for (const auto& node : graph.nodes) {
    for (const std::string_view input : node.inputs) read(input);
    for (const auto& attribute : node.attributes)
      for (const auto& inner : attribute.graphs) collectFreeNames(inner, bound, free);
  }
  for (const auto& output : graph.outputs) read(output.name);
}

wire::Node resolved(const wire::Node& node, const Scope& scope) {
  wire::Node copy = node;
  std::vector<wire::Attribute> attributes;
  for (const wire::Attribute& attribute : node.attributes) {
    if (attribute.refAttrName.empty()) {
      attributes.push_back(attribute);
      continue;
    }
    const auto given = scope.functionAttributes.find(attribute.refAttrName);
    if (given == scope.functionAttributes.end()) continue;
    attributes.push_back(*given->second);
    attributes.back().name = attribute.name;
  }
  copy.attributes = std::move(attributes);
  return copy;
}

}  // namespace

TracedNode ModelImport::traced(const wire::Node& node, const Scope& scope, int64_t opset) const {
  TracedNode record;
  record.node = resolved(node, scope);
  record.name = scope.prefix + nodeName(node);
  record.opset = opset;
  for (const std::string_view input : node.inputs)
    record.inputs.push_back(input.empty() ? nullptr : scope.find(input));
  for (const std::string_view output : node.outputs)
    record.outputs.push_back(output.empty() ? nullptr : scope.find(output));
  std::set<std::string_view> free;
  for (const auto& attribute : node.attributes)
    for (const auto& graph : attribute.graphs) collectFreeNames(graph, {}, free);
  for (const std::string_view name : free)
    if (Value* value = scope.find(name)) record.captures.push_back({name, value});
  return record;
}

bool ModelImport::keepOpaque(const wire::Node& node, Scope& scope) {
  if (!options_.trace || scope.depth > 0) return false;
  for (const std::string_view input : node.inputs)
    if (!input.empty() && !scope.find(input)) return false;
  for (const std::string_view output : node.outputs) {
    if (output.empty()) continue;
    Value* value = standIn(output);
    if (!value) return false;
    scope.values[output] = value;
  }
  TracedNode record = traced(node, scope, scope.opset(node.domain));
  record.opaque = true;
  options_.trace->nodes.push_back(std::move(record));
  return true;
}

}  // namespace camshaft::onnx::importer
