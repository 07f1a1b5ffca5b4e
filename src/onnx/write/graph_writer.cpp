#include "onnx/write/graph_writer.h"

#include <algorithm>
#include <cstring>

#include "onnx/node_order.h"
#include "onnx/wire/element_type.h"
#include "onnx/write/reads.h"
#include "support/error.h"

namespace camshaft::onnx::writer {

GraphWriter::GraphWriter(const Graph& graph, int64_t opset, size_t inputs,
                         std::unordered_set<std::string> taken)
    : graph_(graph), opset_(opset), inputs_(inputs), taken_(std::move(taken)) {
  for (const Value* input : graph.inputs) names_[input] = own(input->name);
  findSources();
}

Name GraphWriter::own(std::string text) {
  taken_.insert(text);
  return texts_.emplace_back(std::move(text));
}

Name GraphWriter::newName(const std::string& base) {
  if (!taken_.contains(base)) return own(base);
  for (int i = 1;; ++i)
    if (std::string name = str(base, "_", i); !taken_.contains(name)) return own(std::move(name));
}

Name GraphWriter::nameOf(const Value* value) {
  const auto it = names_.find(value);
  if (it != names_.end()) return it->second;
  return names_[value] = newName(value->name);
}

Name GraphWriter::use(const Value* value) {
  const Name name = nameOf(value);
  if (value->isConstant()) {
    if (written_.insert(value).second) {
      initializer(name, value->type, value->constant);
      large_[{value->constant->bytes.data(), toString(value->type)}] = name;
    }
  } else if (!written_.contains(value)) {
    pending_.push_back(value);
  }
  return name;
}

Name GraphWriter::define(const Value* value) {
  written_.insert(value);
  return nameOf(value);
}

const Value* GraphWriter::nextUnwritten() {
  while (!pending_.empty()) {
    const Value* value = pending_.back();
    pending_.pop_back();
    if (!written_.contains(value)) return value;
  }
  return nullptr;
}

Name GraphWriter::add(std::string_view opType, std::vector<Name> inputs, Attributes attributes,
                      const Value* result) {
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  wire::Node node;
  node.opType = opType;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const Name output = result ? nameOf(result) : newName(str(origin_, "/", opType, "_output"));
  node.name = texts_.emplace_back(result ? origin_ : str(origin_, "/", opType));
  node.outputs = {output};
  if (result) written_.insert(result);
  nodes_.push_back(std::move(node));
  return output;
}

void GraphWriter::setName(const Value* value, std::string_view name) {
  names_[value] = own(std::string(name));
  outputs_.insert(value);
}

void GraphWriter::alias(const Value* value, Name same) {
  if (!outputs_.contains(value)) {
    aliases_[nameOf(value)] = same;
    written_.insert(value);
  } else if (wire::Node* maker = makerOf(same)) {
    maker->outputs = {define(value)};
    aliases_[same] = maker->outputs.front();
  } else {
    add("Identity", {same}, {}, value);
  }
}

// The written node of one output that only others of this writer know by that name.
wire::Node* GraphWriter::makerOf(Name name) {
  for (const Value* output : outputs_)
    if (names_.at(output) == name) return nullptr;
  for (wire::Node& node : nodes_)
    if (node.outputs.size() == 1 && node.outputs.front() == name) return &node;
  return nullptr;
}

Name GraphWriter::initializer(Name name, const TensorType& type, ConstantPtr data) {
  wire::Tensor tensor;
  tensor.name = name;
  tensor.dims = staticDims(type.shape);
  tensor.dataType = onnxCodeOf(type.type);
  tensor.raw = data->bytes;
  data_.push_back(std::move(data));
  initializers_.push_back(std::move(tensor));
  return name;
}

Name GraphWriter::shared(const std::string& base, const TensorType& type, ConstantPtr data) {
  const std::string_view bytes(reinterpret_cast<const char*>(data->bytes.data()),
                               data->bytes.size());
  const auto [it, isNew] = constants_.try_emplace(str(toString(type), ":", bytes));
  if (isNew) it->second = initializer(newName(base), type, std::move(data));
  return it->second;
}

Name GraphWriter::constant(const std::string& name, const TensorType& type, ConstantPtr data) {
  constexpr size_t kSmall = 64;  // bytes
  if (data->bytes.size() <= kSmall) return shared(name, type, std::move(data));
  const auto [it, isNew] = large_.try_emplace({data->bytes.data(), toString(type)});
  if (isNew) it->second = initializer(newName(name), type, std::move(data));
  return it->second;
}

Name GraphWriter::integers(const std::vector<int64_t>& values) {
  return shared("shape", {DataType::kI64, {static_cast<int64_t>(values.size())}},
                ConstantData::of(std::span<const int64_t>(values)));
}

Name GraphWriter::scalar(DataType type, double real, int64_t integer) {
  std::vector<std::byte> bytes(bytesOf(type, 1));
  if (isInteger(type) && bitsOf(type) == 64)
    std::memcpy(bytes.data(), &integer, sizeof integer);
  else
    writeElement(type, bytes.data(), 0, isFloat(type) ? real : static_cast<double>(integer));
  return shared("scalar", {type, {}}, ConstantData::own(std::move(bytes)));
}

// Inputs first, then values in the order they are computed: what defines a size comes before what
// depends on it. Of what stands for a kept node only symbols are taken: it could need the others.
void GraphWriter::findSources() {
  const auto note = [&](const Value* value, bool symbolsOnly) {
    for (size_t axis = 0; axis < value->shape().size(); ++axis)
      if (const Dim& dim = value->shape()[axis]; symbolsOnly ? dim.isSymbol() : !dim.isConstant())
        sources_.try_emplace(toString(dim),
                             Source{value, static_cast<int64_t>(axis), positionOf(value)});
  };
  for (const auto& node : graph_.nodes())
    positions_[node.get()] = static_cast<int>(positions_.size());
  position_ = static_cast<int>(positions_.size());
  for (const Value* input : modelInputs()) note(input, false);
  for (const Value* input : graph_.inputs) note(input, true);
  for (const auto& node : graph_.nodes())
    for (const Value* output : node->outputs) note(output, false);
}

void GraphWriter::begin(const Node& node) {
  origin_ = node.name;
  position_ = positions_.at(&node);
}

int GraphWriter::positionOf(const Value* value) const {
  return value->producer ? positions_.at(value->producer) : -1;
}

GraphWriter::Source GraphWriter::sourceOf(const Dim& dim) const {
  const auto it = sources_.find(toString(dim));
  return it == sources_.end() || it->second.position >= position_ ? Source{} : it->second;
}

const GraphWriter::KnownDims* GraphWriter::findDims(const std::string& text) const {
  const auto it = knownDims_.find(text);
  return it == knownDims_.end() || it->second.position >= position_ ? nullptr : &it->second;
}

Name GraphWriter::keepDims(const std::string& text, Name name, int position) {
  knownDims_[text] = {name, position};
  return name;
}

wire::Graph GraphWriter::take() {
  wire::Graph graph;
  graph.initializers = std::move(initializers_);
  for (auto& [name, same] : aliases_)
    for (auto it = aliases_.find(same); it != aliases_.end(); it = aliases_.find(same))
      same = it->second;
  for (wire::Node& node : nodes_) {
    for (Name& input : node.inputs)
      if (const auto it = aliases_.find(input); it != aliases_.end()) input = it->second;
    for (wire::Attribute& attribute : node.attributes)
      for (wire::Graph& body : attribute.graphs) renameReads(body, aliases_);
  }
  std::set<std::string_view> known;
  for (const Value* input : modelInputs()) known.insert(names_.at(input));
  for (const auto& tensor : graph.initializers) known.insert(tensor.name);
  // Written from the outputs back, so the reverse is nearly the order of the model.
  std::reverse(nodes_.begin(), nodes_.end());
  const auto order =
      importer::orderNodes(nodes_, [&](std::string_view name) { return known.contains(name); });
  CAMSHAFT_CHECK(order.duplicates.empty(), "two written nodes make '", order.duplicates.front(),
                 "'");
  CAMSHAFT_CHECK(order.inCycle.empty(), "written node '", nodes_[order.inCycle.front()].name,
                 "' needs its own output");
  std::unordered_set<std::string> nodeNames;  // some readers want them unique
  for (const int i : order.order) {
    wire::Node& node = graph.nodes.emplace_back(std::move(nodes_[i]));
    std::string name(node.name);
    for (int copy = 1; !name.empty() && !nodeNames.insert(name).second; ++copy)
      name = str(node.name, "_", copy);
    if (name != node.name) node.name = texts_.emplace_back(std::move(name));
  }
  return graph;
}

wire::Attribute attribute(std::string_view name, int64_t value) {
  wire::Attribute made;
  made.name = name;
  made.type = wire::AttributeType::kInt;
  made.i = value;
  return made;
}

wire::Attribute attribute(std::string_view name, double value) {
  wire::Attribute made;
  made.name = name;
  made.type = wire::AttributeType::kFloat;
  made.f = static_cast<float>(value);
  return made;
}

wire::Attribute attribute(std::string_view name, std::string_view value) {
  wire::Attribute made;
  made.name = name;
  made.type = wire::AttributeType::kString;
  made.s = value;
  return made;
}

wire::Attribute attribute(std::string_view name, std::vector<int64_t> values) {
  wire::Attribute made;
  made.name = name;
  made.type = wire::AttributeType::kInts;
  made.ints = std::move(values);
  return made;
}

}  // namespace camshaft::onnx::writer
