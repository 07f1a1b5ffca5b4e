#include "quantize/model_editor.h"

#include <algorithm>
#include <cstring>

#include "onnx/names.h"
#include "onnx/wire/element_type.h"
#include "onnx/wire/tensor.h"
#include "onnx/write/reads.h"

namespace camshaft {

using onnx::writer::collectDefined;
using onnx::writer::collectReads;

ModelEditor::ModelEditor(onnx::LoadedModel model) : model_(std::move(model)) {
  collectDefined(graph(), names_);
  refresh();
  for (const std::string& name : names_)
    if (!isRead(name)) neverRead_.insert(name);
}

std::string_view ModelEditor::freshName(std::string base) {
  std::string name = base;
  for (int i = 1; !names_.insert(name).second; ++i) name = str(base, "_", i);
  return keep(std::move(name));
}

void ModelEditor::refresh() {
  producers_.clear(), uses_.clear(), initializers_.clear();
  outputs_.clear(), readByBodies_.clear();
  const onnx::Graph& graph = model_.model.graph;
  for (size_t i = 0; i < graph.initializers.size(); ++i)
    initializers_.emplace(graph.initializers[i].name, i);
  for (const auto& output : graph.outputs) outputs_.insert(output.name);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const onnx::Node& node = graph.nodes[i];
    for (const std::string_view output : node.outputs)
      if (!output.empty()) producers_.emplace(output, i);
    for (size_t input = 0; input < node.inputs.size(); ++input)
      if (!node.inputs[input].empty()) uses_[node.inputs[input]].push_back({i, input});
    for (const auto& attribute : node.attributes)
      for (const auto& inner : attribute.graphs) collectReads(inner, readByBodies_);
  }
}

std::optional<size_t> ModelEditor::producerOf(std::string_view tensor) const {
  const auto it = producers_.find(tensor);
  return it == producers_.end() ? std::nullopt : std::optional(it->second);
}

const std::vector<ModelEditor::Use>& ModelEditor::usesOf(std::string_view tensor) const {
  static const std::vector<Use> kNone;
  const auto it = uses_.find(tensor);
  return it == uses_.end() ? kNone : it->second;
}

std::optional<ModelEditor::Use> ModelEditor::soleUse(std::string_view tensor) const {
  const auto& uses = usesOf(tensor);
  if (uses.size() != 1 || !isReadByNodesAlone(tensor)) return std::nullopt;
  return uses[0];
}

const onnx::Tensor* ModelEditor::findConstant(std::string_view name) const {
  if (const auto it = initializers_.find(name); it != initializers_.end())
    return &model_.model.graph.initializers[it->second];
  const auto producer = producerOf(name);
  if (!producer) return nullptr;
  const onnx::Node& node = model_.model.graph.nodes[*producer];
  if (!isStandard(node)) return nullptr;
  if (node.opType == "Identity" && node.inputs.size() == 1) return findConstant(node.inputs[0]);
  if (node.opType != "Constant") return nullptr;
  const onnx::Attribute* value = findAttribute(node, "value");
  return value && value->tensors.size() == 1 ? &value->tensors[0] : nullptr;
}

std::optional<RealTensor> ModelEditor::findReals(std::string_view name) const {
  const onnx::Tensor* tensor = findConstant(name);
  if (!tensor || onnx::findDataType(tensor->dataType) != DataType::kF32) return std::nullopt;
  const onnx::TensorBytes data = onnx::tensorData(*tensor, *model_.files);
  RealTensor reals{tensor->dims, std::vector<float>(data.bytes.size() / sizeof(float))};
  if (!data.bytes.empty()) std::memcpy(reals.values.data(), data.bytes.data(), data.bytes.size());
  return reals;
}

std::string_view ModelEditor::addConstant(std::string base, DataType type,
                                          std::vector<int64_t> dims, std::vector<std::byte> data) {
  onnx::Tensor tensor;
  tensor.name = freshName(std::move(base));
  tensor.dims = std::move(dims);
  tensor.dataType = onnx::onnxCodeOf(type);
  tensor.raw = data_.emplace_back(std::move(data));
  initializers_.emplace(tensor.name, graph().initializers.size());
  graph().initializers.push_back(tensor);
  return tensor.name;
}

std::string_view ModelEditor::addReals(std::string base, const RealTensor& tensor) {
  const auto bytes = std::as_bytes(std::span(tensor.values));
  return addConstant(std::move(base), DataType::kF32, tensor.dims, {bytes.begin(), bytes.end()});
}

void ModelEditor::insert(std::vector<Insertion> nodes) {
  std::ranges::stable_sort(nodes, {}, &Insertion::before);
  std::vector<onnx::Node> all;
  all.reserve(graph().nodes.size() + nodes.size());
  auto next = nodes.begin();
  for (size_t i = 0; i < graph().nodes.size(); ++i) {
    for (; next != nodes.end() && next->before == i; ++next) all.push_back(std::move(next->node));
    all.push_back(std::move(graph().nodes[i]));
  }
  graph().nodes = std::move(all);
  refresh();
}

void ModelEditor::removeUnread() {
  refresh();
  const auto isUnread = [&](std::string_view name) {
    return !isRead(name) && !neverRead_.contains(std::string(name));
  };
  std::unordered_set<std::string_view> gone;
  for (const onnx::Tensor& tensor : graph().initializers)
    if (isUnread(tensor.name)) gone.insert(tensor.name);
  std::erase_if(graph().inputs, [&](const auto& info) { return gone.contains(info.name); });
  std::erase_if(graph().initializers, [&](const auto& each) { return gone.contains(each.name); });
  std::erase_if(graph().nodes, [&](const onnx::Node& node) {
    return isStandard(node) && node.opType == "Constant" && isUnread(node.outputs[0]);
  });
  refresh();
}

bool isStandard(const onnx::Node& node) {
  return onnx::importer::canonicalDomain(node.domain).empty();
}

const onnx::Attribute* findAttribute(const onnx::Node& node, std::string_view name) {
  const auto it = std::ranges::find(node.attributes, name, &onnx::Attribute::name);
  return it == node.attributes.end() ? nullptr : &*it;
}

int64_t intAttribute(const onnx::Node& node, std::string_view name, int64_t otherwise) {
  const onnx::Attribute* attribute = findAttribute(node, name);
  return attribute ? attribute->i : otherwise;
}

float floatAttribute(const onnx::Node& node, std::string_view name, float otherwise) {
  const onnx::Attribute* attribute = findAttribute(node, name);
  return attribute ? attribute->f : otherwise;
}

onnx::Attribute makeInt(std::string_view name, int64_t value) {
  onnx::Attribute attribute;
  attribute.name = name;
  attribute.type = onnx::AttributeType::kInt;
  attribute.i = value;
  return attribute;
}

std::string nameOf(const onnx::Node& node) {
  if (!node.name.empty()) return std::string(node.name);
  return node.outputs.empty() ? std::string(node.opType) : std::string(node.outputs[0]);
}

}  // namespace camshaft
