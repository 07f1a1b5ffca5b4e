// The nodes of a model that cannot be imported, and the model around them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/trace.h"
#include "onnx/wire/read_model.h"

namespace camshaft {

// Which nodes of a model's main graph stay as they are because nothing is known of what they do, or
// of what they read. What they give and the model declares as tensors is known; what reads anything
// else of theirs is foreign too.
class ForeignNodes {
 public:
  // Begins with what reads or makes inputs, initializers and outputs that are no tensors of
  // numbers.
  explicit ForeignNodes(const onnx::Model& model);

  bool empty() const { return reasons_.empty(); }
  bool areAll() const { return reasons_.size() == graph_.nodes.size(); }
  void add(size_t node, const std::string& reason);
  // Adds what makes things other than tensors that foreign nodes read; `trace` is of the rest's
  // import. False when there is nothing of that kind.
  bool addMakersOfItems(const onnx::ImportTrace& trace);

  // The model without them: what they give are inputs, what they read are outputs.
  onnx::Model rest() const;
  size_t indexInModel(size_t indexInRest) const { return indices().at(indexInRest); }
  // The nodes that a slimmer rest has and these, in an order that works; nothing when there is
  // none.
  std::optional<onnx::Model> joinedWith(const onnx::Model& slimmed) const;

  // Names that nothing else may have.
  std::unordered_set<std::string> names() const;
  std::vector<std::string> reasons() const;  // "name: why"

 private:
  bool isTyped(std::string_view tensor) const;
  bool isForeign(std::string_view tensor) const;  // made by a foreign node, or no tensor
  std::unordered_set<std::string_view> readByForeign() const;
  std::vector<size_t> indices() const;  // of nodes that are not foreign
  void addInitializers(onnx::Graph& graph) const;

  const onnx::Model& model_;
  const onnx::Graph& graph_;
  std::unordered_map<std::string_view, size_t> makers_;
  std::unordered_map<std::string_view, std::vector<size_t>> readers_;
  std::unordered_map<std::string_view, const onnx::ValueInfo*> declared_;
  std::unordered_set<std::string_view> strange_;  // inputs and initializers that are no tensors
  std::map<size_t, std::string> reasons_;         // by node
};

}  // namespace camshaft
