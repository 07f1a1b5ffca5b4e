#include "api/network.h"

#include <algorithm>

#include "api/convert.h"
#include "api/layers/block.h"
#include "api/layers/recognise.h"
#include "api/lowering/lower.h"
#include "ops/pointwise.h"
#include "ops/shape.h"
#include "ops/symbols.h"

namespace camshaft::api {

using nvinfer1::ITensor;

Network::Network(nvinfer1::NetworkDefinitionCreationFlags flags, nvinfer1::IBuilder& builder,
                 std::shared_ptr<PluginRegistry> plugins, const Reporter& reporter)
    : plugins_(std::move(plugins)), flags_(flags), builder_(builder), reporter_(reporter) {}

Network::~Network() = default;

void Network::setGraph(Graph graph) {
  graph_ = std::move(graph);
  listing_.clear();
}

namespace {

// Copies are for those who look at the network. One that gives an output its name stays, and so
// does one that was asked for a type.
void eraseCopies(Graph& graph) {
  for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
    Node* node = (at++)->get();
    if (node->op != &ops::Identity || !node->precision.empty() || graph.isOutput(node->output()))
      continue;
    graph.replaceUses(node->output(), node->input(0));
    graph.erase(node);
  }
}

// Bindings that edits left behind: no node reads their symbols any more.
void eraseUnreadBindings(Graph& graph) {
  std::set<std::string> read;
  for (const auto& node : graph.nodes()) read.merge(symbolsRead(*node));
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::BindDims || isAssertion(graph, *node)) continue;
    const auto& symbols = node->as<BindDimsAttrs>().symbols;
    if (std::none_of(symbols.begin(), symbols.end(),
                     [&](const Dim& s) { return read.contains(s.symbolName()); }))
      graph.erase(node);
  }
}

// The node's share of what was asked of its layer.
PrecisionRequest requestOn(const Node& node, const LayerCore& layer) {
  PrecisionRequest request{.compute = layer.precision.compute, .outputs = {}};
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const Value* value = layer.outputs[i]->value();
    if (!value || value->producer != &node || !layer.precision.output(i)) continue;
    request.outputs.resize(node.outputs.size());
    request.outputs[static_cast<size_t>(value->index)] = layer.precision.output(i);
  }
  return request;
}

// Casts where the user gives an input or wants an output in another type than the network's.
void castInput(Graph& graph, Value* input, DataType type) {
  const DataType own = input->dataType();
  input->type.type = type;
  Node* first = graph.nodeCount() > 0 ? graph.nodes().front().get() : nullptr;
  Value* cast = addCast(graph, str(input->name, "_", toString(own)), input, own, first);
  graph.replaceUses(input, cast);
  graph.setInput(cast->producer, 0, input);
}

void castOutput(Graph& graph, size_t index, DataType type) {
  const auto& [name, value] = graph.outputs[index];
  graph.setOutput(index, addCast(graph, str(name, "_", toString(type)), value, type));
}

}  // namespace

void Network::castBorders(Graph& copy) const {
  const auto wantedType = [&](const Value* value) -> std::optional<DataType> {
    const auto tensor = tensorOfValue_.find(value);
    if (tensor == tensorOfValue_.end()) return std::nullopt;
    const auto wanted = tensor->second->borderType();
    return wanted != value->dataType() ? wanted : std::nullopt;
  };
  for (size_t i = 0; i < graph_.outputs.size(); ++i)
    if (const auto type = wantedType(graph_.outputs[i].value)) castOutput(copy, i, *type);
  for (size_t i = 0; i < graph_.inputs.size(); ++i)
    if (const auto type = wantedType(graph_.inputs[i])) castInput(copy, copy.inputs[i], *type);
}

void Network::requireWhole() const {
  if (isTorn_)
    fail(ErrorKind::kInvalidArgument,
         "memory ran out while the network was changed, which left it incomplete; make it anew");
}

Graph Network::graphToBuild() const {
  Graph copy = graphToCalibrate();
  castBorders(copy);
  storeBorders(copy);
  copy.eraseUnusedConstants();
  return copy;
}

Graph Network::graphToCalibrate() const {
  requireWhole();
  for (const auto& layer : layers_)
    if (!layer->problem.empty()) fail(ErrorKind::kInvalidArgument, layer->problem);
  Graph copy = graph_.clone();
  auto copied = copy.nodes().begin();
  for (const auto& node : graph_.nodes()) {
    const auto layer = layerOfNode_.find(node.get());
    if (layer != layerOfNode_.end()) {
      (*copied)->precision = requestOn(*node, *layer->second);
      const LayerCore& from = *layer->second;
      if (from.hasOwnMetadata || node->origins.empty())
        (*copied)->origins = from.metadata.empty() ? Origins() : Origins{from.metadata};
    }
    ++copied;
  }
  observeMarked(copy);
  if (!blocks_.empty()) lowerInto(copy);
  eraseCopies(copy);
  eraseUnreadBindings(copy);
  copy.eraseUnusedConstants();
  return copy;
}

// A recurrence's next value is computed from the recurrence, so the flat graph does not have it as
// an operand.
void Network::lowerInto(Graph& copy) const {
  for (const auto& layer : layers_) {
    if (layer->type != nvinfer1::LayerType::kRECURRENCE) continue;
    const Value* next = layer->inputs.at(1)->value();
    if (!next)
      fail(ErrorKind::kInvalidArgument, "layer '", layer->name,
           "' goes on with a tensor that was removed from the network");
    const Node* recurrence = layer->nodes.front();
    copy.add(&placeholders::Next, layer->name,
             {copy.find(recurrence->output()->name), copy.find(next->name)},
             recurrence->as<BoundaryAttrs>());
  }
  std::vector<std::string> names;
  for (const auto& block : blocks_) names.push_back(block->name);
  lowerBlocks(copy, names);
}

Tensor* Network::tensorOf(Value* value) {
  if (const auto known = tensorOfValue_.find(value); known != tensorOfValue_.end())
    return known->second;
  roomForOneMore(tensors_);
  auto tensor = std::make_unique<Tensor>(*this, value);
  tensorOfValue_.emplace(value, tensor.get());
  return tensors_.emplace_back(std::move(tensor)).get();
}

Tensor* Network::own(ITensor& tensor) const {
  auto& own = static_cast<Tensor&>(tensor);
  if (&own.network() != this)
    fail(ErrorKind::kInvalidArgument, "tensor '", own.getName(), "' belongs to another network");
  if (!own.value())
    fail(ErrorKind::kInvalidArgument, "a tensor that was removed from the network is used again");
  return &own;
}

LayerCore* Network::layerOf(Node* node) {
  if (!node) return nullptr;
  if (const auto known = layerOfNode_.find(node); known != layerOfNode_.end()) return known->second;
  if (node->op == &ops::BindDims) return nullptr;
  LayerCore* layer = layers_.emplace_back(layerFor(*this, node)).get();
  try {
    layer->name = uniqueLayerName(layer->name);
    for (const Node* one : layer->nodes) layerOfNode_.emplace(one, layer);
  } catch (...) {
    for (const Node* one : layer->nodes) layerOfNode_.erase(one);
    layers_.pop_back();
    throw;
  }
  return layer;
}

// Nodes of one origin share its name, and models have names twice: later layers get a suffix.
std::string Network::uniqueLayerName(const std::string& base) {
  if (layerNames_.try_emplace(base, 0).second) return base;
  std::string name;
  do name = str(base, "_", ++layerNames_[base]);
  while (!layerNames_.try_emplace(name, 0).second);
  return name;
}

LayerCore* Network::producerOf(const Tensor& tensor) {
  if (tensor.value()->producer) return layerOf(tensor.value()->producer);
  for (const auto& layer : layers_)
    if (std::find(layer->outputs.begin(), layer->outputs.end(), &tensor) != layer->outputs.end())
      return layer.get();
  return nullptr;
}

void Network::setName(const char* name) noexcept {
  guarded(reporter_, false, [&] {
    graph_.name = name ? name : "";
    return true;
  });
}

ITensor* Network::addInput(const char* name, nvinfer1::DataType type,
                           const nvinfer1::Dims& dims) noexcept {
  return guarded<ITensor*>(reporter_, nullptr, [&] {
    if (!name || !*name) fail(ErrorKind::kInvalidArgument, "addInput needs a name for the input");
    if (graph_.find(name))
      fail(ErrorKind::kInvalidArgument, "the network already has a tensor named '", name, "'");
    const auto elementType = fromPublic(type);
    if (!elementType)
      fail(ErrorKind::kInvalidArgument, "input '", name, "' has an unknown type ",
           static_cast<int>(type));
    Shape shape;
    for (int64_t size : fromPublic(dims)) {
      if (size < -1)
        fail(ErrorKind::kInvalidArgument, "input '", name, "' has a dimension of size ", size);
      shape.push_back(
          size < 0 ? graph_.newSymbol(defaultSymbol(name, static_cast<int64_t>(shape.size())))
                   : Dim(size));
    }
    Value* value = graph_.addInput(name, {*elementType, std::move(shape)});
    try {
      return tensorOf(value);
    } catch (...) {
      graph_.removeInput(value);
      throw;
    }
  });
}

void Network::markOutput(ITensor& tensor) noexcept {
  guarded(reporter_, false, [&] {
    Value* value = own(tensor)->value();
    if (value && std::count(graph_.inputs.begin(), graph_.inputs.end(), value) > 0)
      fail(ErrorKind::kInvalidArgument, "'", value->name,
           "' is an input of the network: mark the output of an identity layer that reads it");
    if (!graph_.isOutput(value)) graph_.addOutput(value->name, value);
    return true;
  });
}

void Network::unmarkOutput(ITensor& tensor) noexcept {
  guarded(reporter_, false, [&] {
    Value* value = own(tensor)->value();
    if (!graph_.isOutput(value))
      fail(ErrorKind::kInvalidArgument, "tensor '", value->name, "' is no output of the network");
    edit([&] {
      std::vector<Graph::Output> left(graph_.outputs.begin(), graph_.outputs.end());
      std::erase_if(left, [&](const Graph::Output& output) { return output.value == value; });
      graph_.setOutputs(std::move(left));
    });
    return true;
  });
}

bool Network::markOutputForShapes(ITensor& tensor) noexcept {
  return guarded(reporter_, false, [&] {
    const Value& value = *own(tensor)->value();
    if (!isInteger(value.dataType()) || value.rank() > 1)
      fail(ErrorKind::kInvalidArgument, "tensor '", value.name, "' is ", value.type,
           " and an output for shapes has integers in one dimension at most; mark it with "
           "markOutput");
    markOutput(tensor);
    own(tensor)->setShapeOutput(tensor.isNetworkOutput());
    return tensor.isNetworkOutput();
  });
}

bool Network::unmarkOutputForShapes(ITensor& tensor) noexcept {
  return guarded(reporter_, false, [&] {
    if (!own(tensor)->isNetworkOutput()) return false;
    own(tensor)->setShapeOutput(false);
    unmarkOutput(tensor);
    return true;
  });
}

void Network::removeTensor(ITensor& tensor) noexcept {
  guarded(reporter_, false, [&] {
    Tensor* own = this->own(tensor);
    Value* value = own->value();
    if (graph_.hasUses(value))
      fail(ErrorKind::kInvalidArgument, "tensor '", value->name,
           "' is still read by a layer or marked as an output");
    if (own->isNetworkInput()) {
      forget(value);
      graph_.removeInput(value);
      return true;
    }
    LayerCore* layer = producerOf(*own);
    if (!layer)
      fail(ErrorKind::kInvalidArgument, "tensor '", value->name,
           "' is a constant of the model, which no layer made");
    forget(value);
    const bool last = std::none_of(layer->outputs.begin(), layer->outputs.end(),
                                   [](Tensor* t) { return t->value(); });
    if (last) eraseLayer(*layer);
    return true;
  });
}

const std::vector<LayerCore*>& Network::listing() const {
  if (!listing_.empty()) return listing_;
  std::vector<LayerCore*> listing;
  auto& self = const_cast<Network&>(*this);  // objects are made when first asked for
  std::vector<LayerCore*> constants;
  for (const auto& layer : layers_)
    if (layer->nodes.empty()) constants.push_back(layer.get());
  auto constant = constants.begin();
  std::unordered_set<const LayerCore*> listed;
  for (Node* node : graph_.nodeList()) {
    LayerCore* layer = self.layerOf(node);
    if (!layer || !listed.insert(layer).second) continue;
    while (constant != constants.end() && (*constant)->serial < layer->serial)
      listing.push_back(*constant++);
    listing.push_back(layer);
  }
  listing.insert(listing.end(), constant, constants.end());
  return listing_ = std::move(listing);
}

int32_t Network::getNbLayers() const noexcept {
  return guarded(reporter_, int32_t{0}, [&] { return static_cast<int32_t>(listing().size()); });
}

nvinfer1::ILayer* Network::getLayer(int32_t index) const noexcept {
  return guarded<nvinfer1::ILayer*>(reporter_, nullptr, [&]() -> nvinfer1::ILayer* {
    return index >= 0 && index < getNbLayers() ? listing()[index]->interface() : nullptr;
  });
}

ITensor* Network::getInput(int32_t index) const noexcept {
  if (index < 0 || index >= getNbInputs()) return nullptr;
  return guarded<ITensor*>(reporter_, nullptr, [&] {
    return const_cast<Network*>(this)->tensorOf(graph_.inputs[index]);
  });
}

ITensor* Network::getOutput(int32_t index) const noexcept {
  if (index < 0 || index >= getNbOutputs()) return nullptr;
  return guarded<ITensor*>(reporter_, nullptr, [&] {
    return const_cast<Network*>(this)->tensorOf(graph_.outputs[index].value);
  });
}

}  // namespace camshaft::api
