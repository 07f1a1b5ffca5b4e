// Edits: a layer emitted again, and what follows from it downstream.
#include <algorithm>

#include "api/lowering/node_order.h"
#include "api/lowering/placeholders.h"
#include "api/network.h"
#include "ops/move.h"
#include "ops/shape.h"
#include "ops/symbols.h"

namespace camshaft::api {

namespace {

Node* lastBefore(const Graph& graph, const Node* before) {
  Node* found = nullptr;
  for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
    if (!before || found == before) return it->get();
    found = it->get();
  }
  return nullptr;
}

// The nodes after `last` (null: from the first) and before `before` (null: to the end).
std::vector<Node*> nodesBetween(const Graph& graph, const Node* last, const Node* before) {
  std::vector<Node*> nodes;
  Node* node = last ? graph.next(last) : graph.nodeCount() ? graph.nodes().front().get() : nullptr;
  for (; node && node != before; node = graph.next(node)) nodes.push_back(node);
  return nodes;
}

struct Emitted {
  std::vector<Value*> outputs;
  std::vector<Node*> nodes;
  std::string problem;
};

// What the layer gives until its parameters fit; rethrows what says that they do not, where it may
// not be so.
std::vector<Value*> pending(Emission& at, const LayerCore& layer, const Error& misfit) {
  const bool mayFitLater = misfit.kind() == ErrorKind::kInvalidModel;
  const std::optional<Shape> sizes =
      mayFitLater && at.has(0) ? layer.pendingSizes(at) : std::nullopt;
  if (!sizes) throw;
  at.problem = misfit.message();
  BoundaryAttrs attrs;
  attrs.sizes = *sizes;
  return {at.add(&placeholders::Pending, {at.input(0)}, std::move(attrs))};
}

// A failed emission leaves the graph as it was. An output of a layer is never one of its inputs: a
// layer that changes nothing becomes an Identity.
Emitted emit(Graph& graph, const LayerCore& layer, Node* before) {
  Emission at{
      graph, layer.name,
      {},    before,
      {},    layer.network.getFlag(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)};
  for (const Tensor* input : layer.inputs) at.inputs.push_back(input ? input->value() : nullptr);
  const Node* last = lastBefore(graph, before);
  Emitted result;
  const auto eraseMade = [&] {
    for (Node* made; (made = lastBefore(graph, before)) != last;) graph.erase(made);
  };
  try {
    try {
      result.outputs = layer.emit(at);
    } catch (const Error& misfit) {
      eraseMade();
      result.outputs = pending(at, layer, misfit);
    }
    for (Value*& output : result.outputs)
      if (std::find(at.inputs.begin(), at.inputs.end(), output) != at.inputs.end())
        output = at.add(&ops::Identity, {output}, NoAttrs{});
    result.nodes = nodesBetween(graph, last, before);
  } catch (...) {
    eraseMade();
    throw;
  }
  // A binding of what another layer computed may be shared, so it belongs to none.
  const auto isMade = [&](const Node* node) {
    return std::find(result.nodes.begin(), result.nodes.end(), node) != result.nodes.end();
  };
  std::erase_if(result.nodes, [&](const Node* node) {
    return node->op == &ops::BindDims && !isMade(node->input(0)->producer);
  });
  result.problem = std::move(at.problem);
  return result;
}

template <class Values>
bool reads(const Node& node, const Values& values) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](const Value* v) { return v && values.contains(v); });
}

}  // namespace

void Network::attach(LayerCore& layer) {
  Emitted made = emit(graph_, layer, nullptr);
  layer.nodes = std::move(made.nodes);
  layer.problem = std::move(made.problem);
  try {
    for (size_t i = 0; i < made.outputs.size(); ++i) {
      graph_.rename(made.outputs[i],
                    graph_.uniqueName(str(layer.name, "_output", i ? str("_", i) : "")));
      layer.outputs.push_back(tensorOf(made.outputs[i]));
    }
    for (Node* node : layer.nodes) layerOfNode_[node] = &layer;
  } catch (...) {
    for (const Value* output : made.outputs) forget(output);
    eraseNodes(layer);
    throw;
  }
  layer.serial = nextSerial_++;
  listing_.clear();
}

// The tensor of a value that goes.
void Network::forget(const Value* value) {
  const auto found = tensorOfValue_.find(value);
  if (found == tensorOfValue_.end()) return;
  if (found->second) found->second->bind(nullptr);
  tensorOfValue_.erase(found);
}

void Network::eraseNodes(LayerCore& layer) {
  for (Node* node : layer.nodes) layerOfNode_.erase(node);
  std::for_each(layer.nodes.rbegin(), layer.nodes.rend(), [&](Node* node) { graph_.erase(node); });
  layer.nodes.clear();
}

namespace {

// What the bindings among a layer's nodes define, in order.
std::vector<Dim*> symbolsOf(const std::vector<Node*>& nodes) {
  std::vector<Dim*> symbols;
  for (Node* node : nodes)
    if (node->op == &ops::BindDims)
      for (Dim& symbol : node->as<BindDimsAttrs>().symbols) symbols.push_back(&symbol);
  return symbols;
}

// Symbols of nodes just made under the names of those that they replace, which parsed nodes
// downstream have in their attributes.
void keepNames(Graph& graph, const std::vector<Dim*>& old, const std::vector<Node*>& nodes) {
  const std::vector<Dim*> symbols = symbolsOf(nodes);
  if (old.size() != symbols.size() || old.empty()) return;
  std::unordered_map<std::string, Dim> renamed;
  for (size_t i = 0; i < old.size(); ++i) {
    const std::string name = symbols[i]->symbolName();
    graph.symbols[old[i]->symbolName()] = graph.symbols.at(name);
    graph.symbols.erase(name);
    renamed.emplace(name, *symbols[i] = *old[i]);
  }
  for (Node* node : nodes)
    substituteSymbols(graph, node, [&](const std::string& name) {
      const auto it = renamed.find(name);
      return it == renamed.end() ? Dim::symbol(name) : it->second;
    });
}

}  // namespace

void Network::emitAgain(LayerCore& layer, Changes& changed) {
  Emitted made = emit(graph_, layer, layer.nodes.empty() ? nullptr : layer.nodes.front());
  keepNames(graph_, symbolsOf(layer.nodes), made.nodes);
  for (size_t i = 0; i < made.outputs.size(); ++i)
    replaceOutput(layer, i, made.outputs[i], changed);
  for (Node* node : layer.nodes) layerOfNode_.erase(node);
  std::for_each(layer.nodes.rbegin(), layer.nodes.rend(), [&](Node* node) { graph_.erase(node); });
  layer.nodes = std::move(made.nodes);
  layer.problem = std::move(made.problem);
  layer.parsed = false;
  for (Node* node : layer.nodes) layerOfNode_[node] = &layer;
}

void Network::replaceOutput(LayerCore& layer, size_t index, Value* value, Changes& changed) {
  Tensor* tensor = layer.outputs[index];
  Value* old = tensor->value();
  if (!old) return;  // removed by the user
  graph_.replaceUses(old, value);
  const std::string name = old->name;
  graph_.rename(old, graph_.uniqueName(name + ".replaced"));
  graph_.rename(value, name);
  tensorOfValue_.erase(old);
  tensorOfValue_[value] = tensor;
  tensor->bind(value);
  if (old->type != value->type || old->contents != value->contents)
    changed.emplace(value, old->shape());
}

namespace {

// A model's Reshape, whose sizes were worked out for `old`, for an input of another shape: leading
// sizes equal to the old input's are copied from the new one, and what then is too much or too
// little goes into the first size after them, as a -1 there would have it.
void followInput(Node& reshape, const Shape& old) {
  Shape& sizes = reshape.as<ReshapeAttrs>().shape;
  const Shape& now = reshape.input(0)->shape();
  if (numElements(now) == numElements(sizes) || old.size() != now.size()) return;
  size_t copied = 0;
  for (; copied < std::min(sizes.size(), old.size()) && sizes[copied] == old[copied]; ++copied)
    sizes[copied] = now[copied];
  if (copied == sizes.size() || numElements(now) == numElements(sizes)) return;
  const Shape rest(now.begin() + static_cast<int64_t>(copied), now.end());
  const Dim others = numElements({sizes.begin() + static_cast<int64_t>(copied) + 1, sizes.end()});
  if (!others.isConstant(0)) sizes[copied] = floorDiv(numElements(rest), others);
}

}  // namespace

// Every node that reads a changed value, in order: a layer that has parameters is emitted again
// (its sizes may follow from its input's), any other node has its types inferred again.
void Network::refresh(Changes changed) {
  if (changed.empty()) return;
  std::unordered_set<const Node*> replaced;
  for (Node* node : graph_.nodeList()) {
    if (replaced.contains(node) || !reads(*node, changed)) continue;
    const auto found = layerOfNode_.find(node);
    if (found != layerOfNode_.end() && !found->second->parsed) {
      replaced.insert(found->second->nodes.begin(), found->second->nodes.end());
      emitAgain(*found->second, changed);
      continue;
    }
    std::vector<std::pair<TensorType, std::optional<std::vector<Dim>>>> before;
    for (const Value* output : node->outputs) before.emplace_back(output->type, output->contents);
    if (node->op == &ops::Reshape) followInput(*node, changed.at(node->input(0)));
    graph_.inferTypes(node);
    for (size_t i = 0; i < node->outputs.size(); ++i)
      if (node->outputs[i]->type != before[i].first ||
          node->outputs[i]->contents != before[i].second)
        changed.emplace(node->outputs[i], before[i].first.shape);
  }
}

void Network::rebuild(LayerCore& layer, const std::function<void()>& undo, bool reorder) {
  if (layer.removed) {
    undo();
    fail(ErrorKind::kInvalidArgument, "layer '", layer.name,
         "' was removed from the network with its last tensor; add a new one");
  }
  edit([&] {
    listing_.clear();
    const bool wasParsed = layer.parsed;
    Changes changed;
    try {
      emitAgain(layer, changed);
    } catch (...) {
      undo();
      throw;
    }
    // A layer's nodes stay together: they are emitted again at the place of the first one.
    if (reorder)
      sortNodes(graph_, [&](const Node* node) {
        const auto found = layerOfNode_.find(node);
        return found == layerOfNode_.end() ? std::span<Node* const>() : found->second->nodes;
      });
    try {
      refresh(changed);
    } catch (...) {
      undo();
      Changes back;
      emitAgain(layer, back);
      layer.parsed = wasParsed;
      refresh(back);
      throw;
    }
  });
}

namespace {

// Whether the value is computed from a node of this layer.
bool dependsOn(const Value* value, const LayerCore& layer) {
  std::vector<const Node*> pending{value->producer};
  std::unordered_set<const Node*> seen{nullptr};
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    if (std::find(layer.nodes.begin(), layer.nodes.end(), node) != layer.nodes.end()) return true;
    for (const Value* input : node->inputs)
      if (input) pending.push_back(input->producer);
  }
  return false;
}

}  // namespace

void Network::setLayerInput(LayerCore& layer, int32_t index, nvinfer1::ITensor& tensor) {
  nvinfer1::ITensor* const one = &tensor;
  setLayerInputs(layer, index, std::span(&one, 1));
}

void Network::setLayerInputs(LayerCore& layer, int32_t first,
                             std::span<nvinfer1::ITensor* const> tensors) {
  std::vector<Tensor*> next = layer.inputs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int32_t index = first + static_cast<int32_t>(i);
    if (index < 0 || index > layer.maxInputs() - 1)
      fail(ErrorKind::kInvalidArgument, "layer '", layer.name, "' has no input ", index);
    Tensor* input = tensors[i] ? own(*tensors[i]) : nullptr;
    if (input && !layer.leadsBack(index) && dependsOn(input->value(), layer))
      fail(ErrorKind::kInvalidArgument, "layer '", layer.name, "' cannot read '", input->getName(),
           "', which is computed from its own output");
    if (next.size() <= static_cast<size_t>(index)) next.resize(index + 1);
    next[index] = input;
  }
  while (!next.empty() && !next.back()) next.pop_back();
  std::swap(layer.inputs, next);
  rebuild(layer, [&] { std::swap(layer.inputs, next); }, true);
}

void Network::eraseLayer(LayerCore& layer) {
  roomForOneMore(removed_);
  eraseNodes(layer);
  listing_.clear();
  const auto owned = std::find_if(layers_.begin(), layers_.end(),
                                  [&](const auto& other) { return other.get() == &layer; });
  layer.problem.clear();
  layer.removed = true;
  removed_.push_back(std::move(*owned));
  layers_.erase(owned);
}

}  // namespace camshaft::api
