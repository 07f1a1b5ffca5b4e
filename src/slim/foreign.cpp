#include "slim/foreign.h"

#include "onnx/node_import.h"
#include "onnx/node_order.h"
#include "onnx/wire/element_type.h"
#include "onnx/write/reads.h"
#include "support/text.h"

namespace camshaft {

namespace {

// Names that a node and the bodies inside it read.
std::unordered_set<std::string_view> readsOf(const onnx::Node& node) {
  std::unordered_set<std::string_view> names(node.inputs.begin(), node.inputs.end());
  for (const auto& attribute : node.attributes)
    for (const auto& body : attribute.graphs) onnx::writer::collectReads(body, names);
  names.erase("");
  return names;
}

bool isTensorOfNumbers(const onnx::Type& type) {
  return type.kind == onnx::TypeKind::kTensor && type.shape &&
         onnx::findDataType(type.elementType).has_value();
}

std::string whyStrange(const onnx::ValueInfo& info) {
  if (info.type.kind != onnx::TypeKind::kTensor)
    return str("'", info.name, "' is a ", onnx::toString(info.type.kind));
  return info.type.shape
             ? str("'", info.name, "' is of type ", onnx::onnxTypeName(info.type.elementType))
             : str("the shape of '", info.name, "' is not known");
}

// Sizes have no names: the writer must not find the size of another tensor in what is made later.
onnx::ValueInfo asInput(const onnx::ValueInfo& declared) {
  onnx::ValueInfo info = declared;
  for (onnx::Dim& dim : *info.type.shape) dim.param = {};
  return info;
}

}  // namespace

ForeignNodes::ForeignNodes(const onnx::Model& model) : model_(model), graph_(model.graph) {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const std::string_view output : graph_.nodes[i].outputs)
      if (!output.empty()) makers_.emplace(output, i);
    for (const std::string_view input : readsOf(graph_.nodes[i])) readers_[input].push_back(i);
  }
  for (const auto* infos : {&graph_.valueInfos, &graph_.outputs})
    for (const auto& info : *infos) declared_.emplace(info.name, &info);

  std::unordered_set<std::string_view> initializers;
  const auto addReaders = [this](std::string_view name, const std::string& reason) {
    strange_.insert(name);
    for (const size_t reader : readers_[name]) add(reader, reason);
  };
  for (const auto& tensor : graph_.initializers) {
    initializers.insert(tensor.name);
    if (tensor.dataType != onnx::kOnnxString && !onnx::findDataType(tensor.dataType))
      addReaders(tensor.name,
                 str("'", tensor.name, "' is of type ", onnx::onnxTypeName(tensor.dataType)));
  }
  for (const auto& info : graph_.inputs)
    if (!initializers.contains(info.name) && !isTensorOfNumbers(info.type))
      addReaders(info.name, whyStrange(info));
  for (const auto& info : graph_.outputs) {
    const auto maker = makers_.find(info.name);
    const bool isTensor =
        info.type.kind == onnx::TypeKind::kTensor || info.type.kind == onnx::TypeKind::kNone;
    const bool isString = info.type.elementType == onnx::kOnnxString;
    if (maker != makers_.end() && (!isTensor || isString)) add(maker->second, whyStrange(info));
  }
}

bool ForeignNodes::isTyped(std::string_view tensor) const {
  const auto declared = declared_.find(tensor);
  return declared != declared_.end() && isTensorOfNumbers(declared->second->type);
}

bool ForeignNodes::isForeign(std::string_view tensor) const {
  const auto maker = makers_.find(tensor);
  return strange_.contains(tensor) || (maker != makers_.end() && reasons_.contains(maker->second));
}

void ForeignNodes::add(size_t node, const std::string& reason) {
  std::vector<size_t> open;
  if (reasons_.emplace(node, reason).second) open.push_back(node);
  while (!open.empty()) {
    const onnx::Node& one = graph_.nodes[open.back()];
    open.pop_back();
    for (const std::string_view output : one.outputs) {
      if (output.empty() || isTyped(output)) continue;
      for (const size_t reader : readers_[output])
        if (reasons_.emplace(reader, str("it reads '", output, "', of which nothing is known"))
                .second)
          open.push_back(reader);
    }
  }
}

bool ForeignNodes::addMakersOfItems(const onnx::ImportTrace& trace) {
  const auto reads = readByForeign();
  std::vector<size_t> makers;
  for (const onnx::TracedNode& traced : trace.nodes)
    for (size_t i = 0; i < traced.outputs.size(); ++i) {
      const std::string_view name = traced.node.outputs[i];
      const auto maker = makers_.find(name);
      if (!traced.outputs[i] && reads.contains(name) && maker != makers_.end() &&
          !reasons_.contains(maker->second))
        makers.push_back(maker->second);
    }
  for (const size_t maker : makers) add(maker, "what it gives is no tensor");
  return !makers.empty();
}

std::unordered_set<std::string_view> ForeignNodes::readByForeign() const {
  std::unordered_set<std::string_view> reads;
  for (const auto& [index, reason] : reasons_) reads.merge(readsOf(graph_.nodes[index]));
  return reads;
}

std::vector<size_t> ForeignNodes::indices() const {
  std::vector<size_t> indices;
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (!reasons_.contains(i)) indices.push_back(i);
  return indices;
}

onnx::Model ForeignNodes::rest() const {
  onnx::Model rest = model_;
  onnx::Graph& graph = rest.graph;
  graph.nodes.clear();
  std::unordered_set<std::string_view> reads;
  for (const size_t i : indices()) {
    graph.nodes.push_back(graph_.nodes[i]);
    reads.merge(readsOf(graph_.nodes[i]));
  }
  std::erase_if(graph.initializers, [&](const auto& one) { return strange_.contains(one.name); });
  std::erase_if(graph.inputs, [&](const auto& info) { return strange_.contains(info.name); });
  std::erase_if(graph.outputs, [&](const auto& info) { return isForeign(info.name); });
  for (const auto& [index, reason] : reasons_)
    for (const std::string_view output : graph_.nodes[index].outputs)
      if (reads.contains(output)) graph.inputs.push_back(asInput(*declared_.at(output)));
  std::unordered_set<std::string_view> given;
  for (const auto& info : graph.outputs) given.insert(info.name);
  for (const auto& [index, reason] : reasons_)
    for (const std::string_view read : readsOf(graph_.nodes[index]))
      if (makers_.contains(read) && !isForeign(read) && given.insert(read).second)
        graph.outputs.emplace_back().name = read;
  return rest;
}

// Those that foreign nodes read and the graph does not have.
void ForeignNodes::addInitializers(onnx::Graph& graph) const {
  std::unordered_set<std::string_view> reads = readByForeign();
  for (const auto& info : graph_.outputs) reads.insert(info.name);
  for (const auto& tensor : graph.initializers) reads.erase(tensor.name);
  for (const auto& tensor : graph.sparseInitializers) reads.erase(tensor.values.name);
  for (const auto& tensor : graph_.initializers)
    if (reads.contains(tensor.name)) graph.initializers.push_back(tensor);
  for (const auto& tensor : graph_.sparseInitializers)
    if (reads.contains(tensor.values.name)) graph.sparseInitializers.push_back(tensor);
}

std::optional<onnx::Model> ForeignNodes::joinedWith(const onnx::Model& slimmed) const {
  onnx::Model joined = slimmed;
  onnx::Graph& graph = joined.graph;
  std::unordered_set<std::string_view> inputs;
  for (const auto& info : graph.inputs) inputs.insert(info.name);
  graph.inputs = graph_.inputs;
  std::erase_if(graph.inputs, [&](const auto& info) {
    return !inputs.contains(info.name) && !strange_.contains(info.name);
  });
  graph.outputs = graph_.outputs;
  addInitializers(graph);
  std::vector<onnx::Node> nodes = std::move(graph.nodes);
  for (const auto& [index, reason] : reasons_) {
    nodes.push_back(graph_.nodes[index]);
    for (const std::string_view output : graph_.nodes[index].outputs)
      if (const auto declared = declared_.find(output); declared != declared_.end())
        graph.valueInfos.push_back(*declared->second);
  }
  std::unordered_set<std::string_view> outputs;
  for (const auto& info : graph.outputs) outputs.insert(info.name);
  std::erase_if(graph.valueInfos, [&](const auto& info) { return outputs.contains(info.name); });
  const auto order = onnx::importer::orderNodes(nodes, [](std::string_view) { return false; });
  if (order.order.size() != nodes.size()) return std::nullopt;
  graph.nodes.clear();
  for (const int i : order.order) graph.nodes.push_back(std::move(nodes[i]));
  joined.functions = model_.functions;
  return joined;
}

std::unordered_set<std::string> ForeignNodes::names() const {
  std::unordered_set<std::string> names;
  for (const auto& [index, reason] : reasons_) {
    const onnx::Node& node = graph_.nodes[index];
    for (const std::string_view output : node.outputs) names.emplace(output);
    for (const auto& attribute : node.attributes)
      for (const auto& body : attribute.graphs) onnx::writer::collectDefined(body, names);
  }
  for (const std::string_view name : strange_) names.emplace(name);
  return names;
}

std::vector<std::string> ForeignNodes::reasons() const {
  std::vector<std::string> texts;
  for (const auto& [index, reason] : reasons_)
    texts.push_back(str(onnx::importer::nodeName(graph_.nodes[index]), ": ", reason));
  return texts;
}

}  // namespace camshaft
