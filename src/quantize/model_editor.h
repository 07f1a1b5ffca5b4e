// An ONNX model that is being changed, with who makes and who reads each tensor of its main graph.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/wire/read_model.h"
#include "support/data_type.h"
#include "support/text.h"

namespace camshaft {

// A constant of real numbers.
struct RealTensor {
  std::vector<int64_t> dims;
  std::vector<float> values;
};

// Owns what new names and tensors of the model point to.
class ModelEditor {
 public:
  explicit ModelEditor(onnx::LoadedModel model);
  ModelEditor(const ModelEditor&) = delete;
  ModelEditor& operator=(const ModelEditor&) = delete;

  const onnx::LoadedModel& loaded() const { return model_; }
  onnx::Model& model() { return model_.model; }
  onnx::Graph& graph() { return model_.model.graph; }

  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::string_view freshName(std::string base);  // base itself, where nobody has it

  struct Use {
    size_t node, input;
  };
  // As of the last refresh(). Reads by bodies and by the graph's outputs are no uses.
  void refresh();
  std::optional<size_t> producerOf(std::string_view tensor) const;
  const std::vector<Use>& usesOf(std::string_view tensor) const;
  bool isOutput(std::string_view tensor) const { return outputs_.contains(tensor); }
  bool isReadByNodesAlone(std::string_view tensor) const {
    return !isOutput(tensor) && !readByBodies_.contains(tensor);
  }
  // The only node that reads it, and nobody else does.
  std::optional<Use> soleUse(std::string_view tensor) const;

  // An initializer, or what a Constant node gives; through Identity nodes.
  const onnx::Tensor* findConstant(std::string_view name) const;
  std::optional<RealTensor> findReals(std::string_view name) const;  // of f32 alone
  std::string_view addConstant(std::string base, DataType type, std::vector<int64_t> dims,
                               std::vector<std::byte> data);
  std::string_view addReals(std::string base, const RealTensor& tensor);

  // Puts each node in front of the one that stands at its index now.
  struct Insertion {
    size_t before;
    onnx::Node node;
  };
  void insert(std::vector<Insertion> nodes);
  // Initializers, with the inputs that they are defaults of, and Constant nodes, which nobody reads
  // any more.
  void removeUnread();

 private:
  bool isRead(std::string_view tensor) const {
    return uses_.contains(tensor) || isOutput(tensor) || readByBodies_.contains(tensor);
  }

  onnx::LoadedModel model_;
  std::deque<std::string> texts_;
  std::deque<std::vector<std::byte>> data_;
  std::unordered_set<std::string> names_, neverRead_;
  std::unordered_map<std::string_view, size_t> producers_;
  std::unordered_map<std::string_view, std::vector<Use>> uses_;
  std::unordered_map<std::string_view, size_t> initializers_;
  std::unordered_set<std::string_view> outputs_, readByBodies_;
};

// "" and "ai.onnx".
bool isStandard(const onnx::Node& node);
const onnx::Attribute* findAttribute(const onnx::Node& node, std::string_view name);
int64_t intAttribute(const onnx::Node& node, std::string_view name, int64_t otherwise);
float floatAttribute(const onnx::Node& node, std::string_view name, float otherwise);
onnx::Attribute makeInt(std::string_view name, int64_t value);
// What messages and reports call it: its name, or that of its first output.
std::string nameOf(const onnx::Node& node);

}  // namespace camshaft
