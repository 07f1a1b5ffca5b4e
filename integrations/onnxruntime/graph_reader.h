// A graph of ONNX Runtime's, and ONNX models of parts of it.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/wire/model.h"
#include "onnxruntime/ort_api.h"

namespace camshaft::ort {

// The data of an initializer that is too large to be copied into a model. It is ONNX Runtime's, and
// lives as long as the OrtGraph it was found in.
struct Weight {
  std::string name;
  const void* data = nullptr;
  size_t size = 0;
};

struct ModelInput {
  std::string name;
  int32_t elementType = 0;     // ONNX's code
  std::vector<int64_t> shape;  // -1: known when it runs
};

struct SubgraphModel {
  std::string bytes;  // an ONNX model without the data of `weights`
  std::vector<Weight> weights;
  std::vector<ModelInput> inputs;
};

class GraphReader {
 public:
  // Reads these nodes of the graph.
  GraphReader(const OrtApi& api, const OrtGraph* graph, std::span<const OrtNode* const> nodes);
  ~GraphReader();
  GraphReader(const GraphReader&) = delete;
  GraphReader& operator=(const GraphReader&) = delete;

  struct NodeFacts {
    const OrtNode* node = nullptr;
    onnx::Node written;
    // With what bodies read of the graph around them, without what is left out.
    std::vector<std::string_view> reads;
    std::vector<std::string_view> writes;
    std::string obstacle;  // why it cannot be part of a model; "" when it can
  };
  const std::vector<NodeFacts>& nodes() const { return nodes_; }

  struct ValueFacts {
    const OrtValueInfo* info = nullptr;
    onnx::Type type;  // kNone: no tensor of numbers
    bool isConstant = false;
    bool isGraphOutput = false;
  };
  const ValueFacts& value(std::string_view name) const { return values_.at(name); }

  // A model of these nodes, by position, that gives `outputs`. What they read and do not compute
  // are its inputs, but for constants.
  enum class Weights { kApart, kInModel };
  SubgraphModel model(std::span<const size_t> nodes, std::span<const std::string_view> outputs,
                      Weights weights = Weights::kApart) const;

 private:
  void readNode(const OrtNode* node);
  onnx::Node writtenNode(const OrtNode* node);
  onnx::Attribute attribute(const OrtOpAttr* attribute);
  onnx::Graph body(const OrtGraph* graph);
  onnx::Tensor tensor(std::string_view name, const OrtValue* value) const;
  onnx::ValueInfo valueInfo(std::string_view name, const OrtValueInfo* info) const;
  onnx::Type typeOf(const OrtValueInfo* info) const;
  std::string_view nameOf(const OrtValueInfo* info) const;  // "" for a value that is left out
  std::string_view nameValue(const OrtValueInfo* info);     // the same, and notes the value
  std::string obstacleOf(const NodeFacts& facts) const;
  std::string readText(const OrtOpAttr* attribute, OrtAttribute type) const;

  const OrtApi& api_;
  int64_t irVersion_ = 0;
  std::vector<const char*> domains_;
  std::vector<int64_t> versions_;
  std::vector<NodeFacts> nodes_;
  std::unordered_map<std::string_view, ValueFacts> values_;
  std::deque<std::string> texts_;            // that written nodes point to
  std::vector<OrtValue*> attributeTensors_;  // likewise
};

}  // namespace camshaft::ort
