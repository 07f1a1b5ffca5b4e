// ModelImport's record of what each node became, and the nodes it keeps without knowing them.
#include "onnx/trace.h"

#include <algorithm>
#include <optional>
#include <set>

#include "onnx/model_import.h"
#include "onnx/node_import.h"
#include "ops/ops.h"
#include "ops/rules.h"

namespace camshaft::onnx::importer {

namespace {

using Shapes = std::vector<Shape>;

// The shapes that a part of an ONNX node broadcasts, without axes of other meaning.
Shapes broadcastBy(const Node& part) {
  const size_t own = part.op == &ops::MatMul ? 2 : 0;
  Shapes shapes;
  if (part.op != &ops::MatMul && part.op != &ops::Pointwise) return shapes;
  for (const Value* input : part.inputs)
    if (input) shapes.emplace_back(input->shape().begin(), input->shape().end() - own);
  return shapes;
}

Shapes broadcastByExpand(const TracedNode& traced) {
  if (traced.node.opType != "Expand" || traced.inputs.size() != 2) return {};
  const Value *x = traced.inputs[0], *sizes = traced.inputs[1];
  return x && sizes && sizes->contents ? Shapes{x->shape(), *sizes->contents} : Shapes();
}

// Different sizes along an axis, counted from the last; none if the result's is known.
std::set<std::string> openSizes(const Shapes& shapes, size_t fromEnd) {
  std::set<std::string> sizes;
  std::optional<Dim> largest;
  bool known = true;
  for (const Shape& shape : shapes) {
    if (shape.size() < fromEnd) continue;
    const Dim& size = shape[shape.size() - fromEnd];
    if (size.isConstant(1)) continue;
    if (size.isConstant()) return {};
    const bool isLarger = !largest || isAtMost(*largest, size);
    known = known && (isLarger || isAtMost(size, *largest));
    if (isLarger) largest = size;
    sizes.insert(toString(size));
  }
  return known ? std::set<std::string>() : sizes;
}

bool isOpen(const Shapes& shapes) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  for (size_t fromEnd = 1; fromEnd <= rank; ++fromEnd)
    if (!openSizes(shapes, fromEnd).empty()) return true;
  return false;
}

// In the node or a body of it.
bool isOpen(const Node& part) {
  if (isOpen(broadcastBy(part))) return true;
  for (const Graph* body : bodiesOf(part))
    for (const auto& inner : body->nodes())
      if (isOpen(*inner)) return true;
  return false;
}

// Whether a body has an Expand, of whose sizes nothing is recorded, to a shape that it computes.
bool bodiesExpand(const wire::Node& node) {
  const auto expands = [](const wire::Node& inner, const wire::Graph& body) {
    return inner.opType == "Expand" && inner.inputs.size() == 2 &&
           std::none_of(body.initializers.begin(), body.initializers.end(),
                        [&](const auto& tensor) { return tensor.name == inner.inputs[1]; });
  };
  for (const auto& attribute : node.attributes)
    for (const wire::Graph& body : attribute.graphs)
      for (const wire::Node& inner : body.nodes)
        if (expands(inner, body) || bodiesExpand(inner)) return true;
  return false;
}

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
  record.name = scope.named(node);
  record.opset = opset;
  for (const std::string_view input : node.inputs)
    record.inputs.push_back(input.empty() ? nullptr : scope.find(input));
  for (const std::string_view output : node.outputs)
    record.outputs.push_back(output.empty() ? nullptr : scope.find(output));
  std::set<std::string_view> free;
  for (const auto& attribute : node.attributes)
    for (const auto& graph : attribute.graphs) collectFreeNames(graph, {}, free);
  for (const std::string_view name : free) {
    if (Value* value = scope.find(name))
      record.captures.push_back({name, value});
    else
      record.capturesItems |= scope.findItem(name).has_value();
  }
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

// The same sizes broadcast to the same, and so do they with a broadcast of them.
static Dim broadcastSize(ImportTrace& trace, Graph& graph, const std::set<std::string>& sizes) {
  std::set<std::string> all;
  for (const std::string& size : sizes) {
    const auto known = trace.broadcastOf.find(size);
    if (known == trace.broadcastOf.end())
      all.insert(size);
    else
      all.insert(known->second.begin(), known->second.end());
  }
  const auto [it, isNew] = trace.broadcastSizes.try_emplace(all);
  if (isNew) {
    it->second = graph.newSymbol("broadcast");
    trace.broadcastOf[it->second.symbolName()] = all;
  }
  return it->second;
}

void ModelImport::hideOpenBroadcast(TracedNode& record, Scope& scope) {
  record.opaque = record.openBroadcast = true;
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    const Value* output = record.outputs[i];
    if (!output) continue;
    const bool isPart =
        std::find(record.parts.begin(), record.parts.end(), output->producer) != record.parts.end();
    Shapes shapes = broadcastByExpand(record);
    if (shapes.empty() && isPart) shapes = broadcastBy(*output->producer);
    TensorType type = output->type;
    const size_t own = isPart && output->producer->op == &ops::MatMul ? 2 : 0;
    for (size_t fromEnd = 1; fromEnd <= type.shape.size(); ++fromEnd) {
      Dim& size = type.shape[type.shape.size() - fromEnd];
      if (size.isConstant()) continue;
      if (shapes.empty())  // it follows from a broadcast inside the ONNX node
        size = graph_.newSymbol("broadcast");
      else if (fromEnd > own)
        if (const auto sizes = openSizes(shapes, fromEnd - own); !sizes.empty())
          size = broadcastSize(*options_.trace, graph_, sizes);
    }
    const std::string name = scope.named(record.node.outputs[i]);
    record.outputs[i] = graph_.addInput(graph_.uniqueName(name), std::move(type));
    scope.values[record.node.outputs[i]] = record.outputs[i];
  }
}

}  // namespace camshaft::onnx::importer

namespace camshaft::onnx {

bool isOpenBroadcast(const TracedNode& traced) {
  if (importer::isOpen(importer::broadcastByExpand(traced))) return true;
  for (const camshaft::Node* part : traced.parts)
    if (importer::isOpen(*part) ||
        (!bodiesOf(*part).empty() && importer::bodiesExpand(traced.node)))
      return true;
  return false;
}

}  // namespace camshaft::onnx
