#include "slim/tidy.h"

#include <algorithm>
#include <unordered_set>

#include "onnx/names.h"
#include "onnx/wire/element_type.h"
#include "onnx/write/reads.h"

namespace camshaft {

namespace {

using onnx::writer::collectDefined;
using onnx::writer::collectReads;
using onnx::writer::renameReads;
using onnx::writer::Renames;

class Tidier {
 public:
  explicit Tidier(const onnx::ModelFiles& files) : files_(files) {}

  void graph(onnx::Graph& graph) {
    for (onnx::Node& node : graph.nodes)
      for (onnx::Attribute& attribute : node.attributes)
        for (onnx::Graph& inner : attribute.graphs) this->graph(inner);
    std::unordered_set<std::string_view> outputs;
    for (const auto& output : graph.outputs) outputs.insert(output.name);
    std::erase_if(graph.nodes, [&](const onnx::Node& node) {
      return isPlain(node) && !outputs.contains(node.outputs[0]) && makeInitializer(graph, node);
    });
    removeCopies(graph, outputs);
    removeUnread(graph);
  }

  std::vector<onnx::TensorBytes> takeData() { return std::move(data_); }

 private:
  static bool isPlain(const onnx::Node& node) {
    return onnx::importer::canonicalDomain(node.domain).empty() && node.outputs.size() == 1;
  }

  bool makeInitializer(onnx::Graph& graph, const onnx::Node& node) {
    if (node.opType != "Constant" || node.attributes.size() != 1) return false;
    const onnx::Attribute& value = node.attributes[0];
    if (value.name != "value" || value.tensors.size() != 1) return false;
    const onnx::Tensor& tensor = value.tensors[0];
    try {
      data_.push_back(onnx::tensorData(tensor, files_));
    } catch (const Error&) {  // strings, or what the importer has to say more about
      return false;
    }
    onnx::Tensor& made = graph.initializers.emplace_back();
    made.name = node.outputs[0];
    made.dims = tensor.dims;
    made.dataType = tensor.dataType;
    made.raw = data_.back().bytes;
    return true;
  }

  static void removeCopies(onnx::Graph& graph,
                           const std::unordered_set<std::string_view>& outputs) {
    std::unordered_set<std::string> inside;
    for (const onnx::Node& node : graph.nodes)
      for (const onnx::Attribute& attribute : node.attributes)
        for (const onnx::Graph& inner : attribute.graphs) collectDefined(inner, inside);
    Renames renames;
    for (onnx::Node& node : graph.nodes) {  // in order, so that copies of copies are known
      for (std::string_view& input : node.inputs)
        if (const auto it = renames.find(input); it != renames.end()) input = it->second;
      for (onnx::Attribute& attribute : node.attributes)
        for (onnx::Graph& inner : attribute.graphs) renameReads(inner, renames);
      const bool isCopy = isPlain(node) && node.opType == "Identity" && node.inputs.size() == 1;
      if (isCopy && !outputs.contains(node.outputs[0]) &&
          !inside.contains(std::string(node.inputs[0])))
        renames[node.outputs[0]] = node.inputs[0];
    }
  }

  // From the last node back, as far as the order of the model tells.
  static void removeUnread(onnx::Graph& graph) {
    for (bool changed = true; changed;) {
      std::unordered_set<std::string_view> read;
      collectReads(graph, read);
      read.erase("");
      changed = std::erase_if(graph.nodes, [&](const onnx::Node& node) {
        return std::none_of(node.outputs.begin(), node.outputs.end(),
                            [&](std::string_view output) { return read.contains(output); });
      });
    }
  }

  const onnx::ModelFiles& files_;
  std::vector<onnx::TensorBytes> data_;
};

}  // namespace

std::vector<onnx::TensorBytes> tidy(onnx::LoadedModel& model) {
  Tidier tidier(*model.files);
  tidier.graph(model.model.graph);
  return tidier.takeData();
}

}  // namespace camshaft
