// Other dimensions for a network's inputs, and what follows from them.
#include "api/network.h"
#include "ops/symbols.h"

namespace camshaft::api {

// A fixed dimension that becomes a run-time one is tried as an odd number first: sizes that a model
// was exported with then stand out as conflicts, where a symbol could be taken as equal to them.
void Network::setInputShape(Tensor& input, const Shape& shape) {
  edit([&] { tryInputShape(input, shape); });
}

void Network::tryInputShape(Tensor& input, const Shape& shape) {
  const Shape old = input.value()->shape();
  Shape trial = shape;
  int64_t odd = 7919;
  for (size_t i = 0; i < shape.size() && old.size() == shape.size(); ++i)
    if (old[i].isConstant() && !shape[i].isConstant()) trial[i] = odd++;
  if (trial == shape) return applyInputShape(input, shape);
  try {
    applyInputShape(input, trial);
  } catch (const Error& error) {
    fail(error.kind(), "the dimensions of input '", input.getName(),
         "' cannot be left to run time, tried as ", toString(trial), ": ", error.message());
  }
  try {
    applyInputShape(input, shape);
  } catch (...) {
    applyInputShape(input, old);
    throw;
  }
}

void Network::applyInputShape(Tensor& input, const Shape& shape) {
  std::unordered_map<std::string, Dim> renamed;
  const Shape old = input.value()->shape();
  if (old.size() == shape.size())
    for (size_t i = 0; i < old.size(); ++i)
      if (old[i].isSymbol() && !(old[i] == shape[i]))
        renamed.emplace(old[i].symbolName(), shape[i]);

  std::vector<std::pair<Node*, std::unique_ptr<Attrs>>> attrs;  // of nodes that refresh() keeps
  for (const auto& node : graph_.nodes()) {
    const auto layer = layerOfNode_.find(node.get());
    if (layer == layerOfNode_.end() || layer->second->parsed)
      attrs.emplace_back(node.get(), node->attrs->clone());
  }
  std::vector<TensorType> types;
  for (const Value* value : graph_.inputs) types.push_back(value->type);
  const auto refreshAll = [&](const Shape& before) {
    Changes changed;
    for (const Value* value : graph_.inputs)
      changed.emplace(value, value == input.value() ? before : value->shape());
    refresh(std::move(changed));
  };
  listing_.clear();
  try {
    for (const Dim& dim : shape)
      if (dim.isSymbol()) graph_.symbols.try_emplace(dim.symbolName());
    if (!renamed.empty())
      substituteSymbols(graph_, [&](const std::string& name) {
        const auto it = renamed.find(name);
        return it == renamed.end() ? Dim::symbol(name) : it->second;
      });
    input.value()->type.shape = shape;
    refreshAll(old);
  } catch (...) {
    for (auto& [node, saved] : attrs) node->attrs = std::move(saved);
    for (size_t i = 0; i < types.size(); ++i) graph_.inputs[i]->type = types[i];
    refreshAll(shape);
    throw;
  }
  for (auto& layer : layers_)
    if (layer->parsed) layer->readAgain();
}

void Network::nameDimension(Tensor& input, int32_t index, const std::string& symbol) {
  Shape shape = input.value()->shape();
  if (shape[index].isConstant())
    fail(ErrorKind::kInvalidArgument, "dimension ", index, " of input '", input.getName(),
         "' is fixed; only a run-time dimension has a name");
  shape[index] = Dim::symbol(symbol);
  setInputShape(input, shape);
}

}  // namespace camshaft::api
