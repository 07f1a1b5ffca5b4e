#include "onnxruntime/graph_reader.h"

#include <algorithm>
#include <unordered_set>

#include "onnx/wire/element_type.h"
#include "onnx/wire/write_model.h"
#include "support/error.h"

namespace camshaft::ort {

namespace {

constexpr size_t kMostCopiedBytes = 1024;  // of an initializer: shapes, axes and scalars
constexpr size_t kMostDims = 8;            // nvinfer1::Dims::MAX_DIMS

}  // namespace

GraphReader::GraphReader(const OrtApi& api, const OrtGraph* graph,
                         std::span<const OrtNode* const> nodes)
    : api_(api), irVersion_(api.get(api.Graph_GetOnnxIRVersion, graph)) {
  domains_.resize(api.get(api.Graph_GetNumOperatorSets, graph));
  versions_.resize(domains_.size());
  api.check(api.Graph_GetOperatorSets(graph, domains_.data(), versions_.data(), domains_.size()));
  for (const OrtNode* node : nodes) readNode(node);
}

GraphReader::~GraphReader() {
  for (OrtValue* value : attributeTensors_) api_.ReleaseValue(value);
}

std::string_view GraphReader::nameOf(const OrtValueInfo* info) const {
  return info ? api_.get(api_.GetValueInfoName, info) : "";
}

std::string_view GraphReader::nameValue(const OrtValueInfo* info) {
  const std::string_view name = nameOf(info);
  const auto [at, isNew] = values_.try_emplace(name);
  if (!isNew || name.empty()) return name;
  at->second = {.info = info,
                .type = typeOf(info),
                .isConstant = api_.get(api_.ValueInfo_IsConstantInitializer, info),
                .isGraphOutput = api_.get(api_.ValueInfo_IsGraphOutput, info)};
  return name;
}

onnx::Type GraphReader::typeOf(const OrtValueInfo* info) const {
  const OrtTypeInfo* type = api_.get(api_.GetValueInfoTypeInfo, info);
  if (!type || api_.get(api_.GetOnnxTypeFromTypeInfo, type) != kOrtTensor) return {};
  const OrtTensorTypeAndShapeInfo* tensor = api_.get(api_.CastTypeInfoToTensorInfo, type);
  onnx::Type result{.kind = onnx::TypeKind::kTensor,
                    .elementType = api_.get(api_.GetTensorElementType, tensor)};
  if (!api_.TensorTypeAndShape_HasShape(tensor)) return result;
  const auto sizes = api_.list(api_.GetDimensionsCount, api_.GetDimensions, tensor);
  std::vector<const char*> names(sizes.size());
  api_.check(api_.GetSymbolicDimensions(tensor, names.data(), names.size()));
  result.shape.emplace();
  for (size_t i = 0; i < sizes.size(); ++i) {
    onnx::Dim& dim = result.shape->emplace_back();
    if (sizes[i] >= 0) {
      dim.value = sizes[i];
    } else if (names[i]) {
      dim.param = names[i];
    }
  }
  return result;
}

onnx::ValueInfo GraphReader::valueInfo(std::string_view name, const OrtValueInfo* info) const {
  return {.name = name, .type = typeOf(info)};
}

onnx::Tensor GraphReader::tensor(std::string_view name, const OrtValue* value) const {
  int code = 0;
  const int64_t* sizes = nullptr;
  size_t count = 0;
  api_.check(api_.GetTensorElementTypeAndShapeDataReference(value, &code, &sizes, &count));
  if (code == onnx::kOnnxString) fail(ErrorKind::kUnsupported, "'", name, "' is of strings");
  const auto* data = static_cast<const std::byte*>(api_.get(api_.GetTensorData, value));
  return {.name = name,
          .dims = {sizes, sizes + count},
          .dataType = code,
          .raw = std::span(data, api_.get(api_.GetTensorSizeInBytes, value))};
}

void GraphReader::readNode(const OrtNode* node) {
  NodeFacts& facts = nodes_.emplace_back();
  facts.node = node;
  const auto note = [&](const std::vector<const OrtValueInfo*>& infos,
                        std::vector<std::string_view>& names) {
    for (const OrtValueInfo* info : infos)
      if (const std::string_view name = nameValue(info); !name.empty()) names.push_back(name);
  };
  note(api_.list(api_.Node_GetNumInputs, api_.Node_GetInputs, node), facts.reads);
  note(api_.list(api_.Node_GetNumImplicitInputs, api_.Node_GetImplicitInputs, node), facts.reads);
  note(api_.list(api_.Node_GetNumOutputs, api_.Node_GetOutputs, node), facts.writes);
  try {
    facts.written = writtenNode(node);
    facts.obstacle = obstacleOf(facts);
  } catch (const Error& error) {
    facts.obstacle = error.message();
  }
}

// Between subgraphs there are tensors of numbers alone.
std::string GraphReader::obstacleOf(const NodeFacts& facts) const {
  for (const auto* names : {&facts.reads, &facts.writes})
    for (const std::string_view name : *names) {
      const onnx::Type& type = values_.at(name).type;
      if (type.kind != onnx::TypeKind::kTensor) return str("'", name, "' is no tensor");
      if (!onnx::findDataType(type.elementType))
        return str("'", name, "' is of type ", onnx::onnxTypeName(type.elementType));
      if (type.shape && type.shape->size() > kMostDims)
        return str("'", name, "' has ", type.shape->size(), " dimensions");
    }
  return "";
}

onnx::Node GraphReader::writtenNode(const OrtNode* node) {
  onnx::Node written{.name = api_.get(api_.Node_GetName, node),
                     .opType = api_.get(api_.Node_GetOperatorType, node),
                     .domain = api_.get(api_.Node_GetDomain, node)};
  for (const OrtValueInfo* info : api_.list(api_.Node_GetNumInputs, api_.Node_GetInputs, node))
    written.inputs.push_back(nameOf(info));
  for (const OrtValueInfo* info : api_.list(api_.Node_GetNumOutputs, api_.Node_GetOutputs, node))
    written.outputs.push_back(nameOf(info));
  for (const OrtOpAttr* one : api_.list(api_.Node_GetNumAttributes, api_.Node_GetAttributes, node))
    if (api_.get(api_.OpAttr_GetType, one) != static_cast<int>(OrtAttribute::kGraph))
      written.attributes.push_back(attribute(one));
  std::vector<const OrtGraph*> bodies(api_.get(api_.Node_GetNumSubgraphs, node));
  std::vector<const char*> names(bodies.size());
  api_.check(api_.Node_GetSubgraphs(node, bodies.data(), bodies.size(), names.data()));
  for (size_t i = 0; i < bodies.size(); ++i)
    written.attributes.push_back(
        {.name = names[i], .type = onnx::AttributeType::kGraph, .graphs = {body(bodies[i])}});
  // ONNX Runtime keeps them in hash tables; equal models are to be written alike.
  std::ranges::sort(written.attributes, {}, &onnx::Attribute::name);
  return written;
}

std::string GraphReader::readText(const OrtOpAttr* attribute, OrtAttribute type) const {
  std::string text;
  size_t size = 0;
  // The first call tells the size, and fails for want of memory.
  if (OrtStatus* status = api_.ReadOpAttr(attribute, static_cast<int>(type), nullptr, 0, &size))
    api_.ReleaseStatus(status);
  text.resize(size);
  if (size > 0)
    api_.check(api_.ReadOpAttr(attribute, static_cast<int>(type), text.data(), text.size(), &size));
  return text;
}

onnx::Attribute GraphReader::attribute(const OrtOpAttr* attribute) {
  using enum onnx::AttributeType;
  onnx::Attribute result{.name = api_.get(api_.OpAttr_GetName, attribute)};
  const auto type = static_cast<OrtAttribute>(api_.get(api_.OpAttr_GetType, attribute));
  const auto number = [&](void* value, size_t size) {
    size_t read = 0;
    // Writers of protobuf may leave out a zero, which then counts as absent.
    if (OrtStatus* status = api_.ReadOpAttr(attribute, static_cast<int>(type), value, size, &read))
      api_.ReleaseStatus(status);
  };
  const auto list = [&]<class T>(std::vector<T>& values) {
    const std::string bytes = readText(attribute, type);
    values.resize(bytes.size() / sizeof(T));
    std::ranges::copy(bytes, reinterpret_cast<char*>(values.data()));
  };
  switch (type) {
    case OrtAttribute::kInt:
      result.type = kInt;
      number(&result.i, sizeof(result.i));
      return result;
    case OrtAttribute::kFloat:
      result.type = kFloat;
      number(&result.f, sizeof(result.f));
      return result;
    case OrtAttribute::kInts:
      result.type = kInts;
      list(result.ints);
      return result;
    case OrtAttribute::kFloats:
      result.type = kFloats;
      list(result.floats);
      return result;
    case OrtAttribute::kString:
      result.type = kString;
      result.s = texts_.emplace_back(readText(attribute, type));
      return result;
    case OrtAttribute::kStrings: {
      result.type = kStrings;
      std::string_view rest = texts_.emplace_back(readText(attribute, type));
      while (!rest.empty()) {  // each ends in a zero
        result.strings.push_back(rest.substr(0, rest.find('\0')));
        rest.remove_prefix(result.strings.back().size() + 1);
      }
      return result;
    }
    case OrtAttribute::kTensor: {
      result.type = kTensor;
      OrtValue* value = api_.get(api_.OpAttr_GetTensorAttributeAsOrtValue, attribute);
      attributeTensors_.push_back(value);
      result.tensors.push_back(tensor("", value));
      return result;
    }
    case OrtAttribute::kUndefined:
    case OrtAttribute::kGraph:
      break;
  }
  fail(ErrorKind::kUnsupported, "attribute '", result.name, "' is of a type that cannot be read");
}

onnx::Graph GraphReader::body(const OrtGraph* graph) {
  onnx::Graph result{.name = "body"};
  std::unordered_set<std::string_view> constants;
  for (const OrtValueInfo* info :
       api_.list(api_.Graph_GetNumInitializers, api_.Graph_GetInitializers, graph)) {
    constants.insert(nameOf(info));
    result.initializers.push_back(
        tensor(nameOf(info), api_.get(api_.ValueInfo_GetInitializerValue, info)));
  }
  std::ranges::sort(result.initializers, {}, &onnx::Tensor::name);
  for (const OrtValueInfo* info : api_.list(api_.Graph_GetNumInputs, api_.Graph_GetInputs, graph))
    if (!constants.contains(nameOf(info))) result.inputs.push_back(valueInfo(nameOf(info), info));
  for (const OrtValueInfo* info : api_.list(api_.Graph_GetNumOutputs, api_.Graph_GetOutputs, graph))
    result.outputs.push_back(valueInfo(nameOf(info), info));
  for (const OrtNode* node : api_.list(api_.Graph_GetNumNodes, api_.Graph_GetNodes, graph)) {
    result.nodes.push_back(writtenNode(node));
    for (const OrtValueInfo* info : api_.list(api_.Node_GetNumOutputs, api_.Node_GetOutputs, node))
      if (info) result.valueInfos.push_back(valueInfo(nameOf(info), info));
  }
  return result;
}

SubgraphModel GraphReader::model(std::span<const size_t> nodes,
                                 std::span<const std::string_view> outputs, Weights weights) const {
  SubgraphModel result;
  onnx::Model model{.irVersion = irVersion_, .producerName = "camshaft"};
  for (size_t i = 0; i < domains_.size(); ++i)
    model.opsetImports.push_back({domains_[i], versions_[i]});
  onnx::Graph& graph = model.graph;
  graph.name = "subgraph";

  std::unordered_set<std::string_view> known;  // computed, or an input or initializer already
  for (const size_t i : nodes) known.insert(nodes_[i].writes.begin(), nodes_[i].writes.end());
  for (const size_t i : nodes) {
    graph.nodes.push_back(nodes_[i].written);
    for (const std::string_view name : nodes_[i].writes)
      graph.valueInfos.push_back({.name = name, .type = value(name).type});
    for (const std::string_view name : nodes_[i].reads) {
      if (!known.insert(name).second) continue;
      const ValueFacts& facts = value(name);
      if (!facts.isConstant) {
        graph.inputs.push_back({.name = name, .type = facts.type});
        ModelInput& input = result.inputs.emplace_back(std::string(name), facts.type.elementType);
        for (const onnx::Dim& dim : facts.type.shape.value_or(std::vector<onnx::Dim>()))
          input.shape.push_back(dim.value.value_or(-1));
        continue;
      }
      onnx::Tensor& weight = graph.initializers.emplace_back(
          tensor(name, api_.get(api_.ValueInfo_GetInitializerValue, facts.info)));
      if (weights == Weights::kInModel || weight.raw->size() <= kMostCopiedBytes) continue;
      result.weights.push_back({std::string(name), weight.raw->data(), weight.raw->size()});
      weight.raw.emplace();
    }
  }
  for (const std::string_view name : outputs)
    graph.outputs.push_back({.name = name, .type = value(name).type});
  result.bytes = onnx::encodeModel(model, onnx::ModelFiles({}, std::nullopt));
  return result;
}

}  // namespace camshaft::ort
