// Writes a Graph as an ONNX graph, value by value from the outputs back.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/names.h"

namespace camshaft::onnx::writer {

namespace wire = camshaft::onnx;
using camshaft::Dim;
using camshaft::Graph;
using camshaft::Node;

using Name = std::string_view;  // of a written tensor; lives as long as the writer
using Attributes = std::vector<wire::Attribute>;

// Collects nodes and initializers. Names and bytes of what it collects are owned by the writer or
// by the graph, which must outlive the written structs.
class GraphWriter {
 public:
  // `opset` is that of ai.onnx; `taken` are names that no new tensor may get. The first `inputs` of
  // the graph's are the model's, the others stand for results of nodes that it does not have.
  GraphWriter(const Graph& graph, int64_t opset, size_t inputs,
              std::unordered_set<std::string> taken);

  const Graph& graph() const { return graph_; }
  std::span<Value* const> modelInputs() const { return std::span(graph_.inputs).first(inputs_); }
  int64_t opset() const { return opset_; }

  void setName(const Value* value, std::string_view name);  // of a graph output
  // The value's name; whatever makes it will be written.
  Name use(const Value* value);
  Name useOptional(const Value* value) { return value ? use(value) : Name(); }
  bool isWritten(const Value* value) const { return written_.contains(value); }
  Name define(const Value* value);  // its name, for a node that makes it
  const Value* nextUnwritten();     // something used and not written yet, or null

  // Adds a node of one output and returns its name: that of `result` when given, else a new one.
  Name add(std::string_view opType, std::vector<Name> inputs, Attributes attributes = {},
           const Value* result = nullptr);
  // The value is another written tensor: whoever uses it reads that one.
  void alias(const Value* value, Name same);
  void addNode(wire::Node node) { nodes_.push_back(std::move(node)); }
  // The node being written: new names are made of its name, and sizes may be read from values that
  // are computed before it.
  void begin(const Node& node);

  Name initializer(Name name, const TensorType& type, ConstantPtr data);
  // One initializer for all equal and small constants, else one for each data.
  Name constant(const std::string& name, const TensorType& type, ConstantPtr data);
  Name integers(const std::vector<int64_t>& values);  // an i64 vector
  Name scalar(DataType type, double real, int64_t integer);
  Name scalar(DataType type, double real) { return scalar(type, real, static_cast<int64_t>(real)); }

  Name own(std::string text);
  Name newName(const std::string& base);

  // Where the dimension can be read: a value and the axis; null when no shape has it that is known
  // before the node being written.
  struct Source {
    const Value* value = nullptr;
    int64_t axis = 0;
    int position = -1;  // of the value's producer among the graph's nodes
  };
  Source sourceOf(const Dim& dim) const;
  // What was written already, by text, and the latest node it was read from.
  struct KnownDims {
    Name name;
    int position = -1;
  };
  const KnownDims* findDims(const std::string& text) const;
  Name keepDims(const std::string& text, Name name, int position);
  int positionOf(const Value* value) const;

  // The collected nodes (in an order that works) and initializers.
  wire::Graph take();

 private:
  Name nameOf(const Value* value);
  wire::Node* makerOf(Name name);
  Name shared(const std::string& base, const TensorType& type, ConstantPtr data);
  void findSources();

  const Graph& graph_;
  int64_t opset_;
  size_t inputs_;
  std::string origin_;
  int position_ = 0;
  std::unordered_map<const Node*, int> positions_;
  std::unordered_set<std::string> taken_;
  std::deque<std::string> texts_;
  std::deque<ConstantPtr> data_;
  std::unordered_map<const Value*, Name> names_;
  std::unordered_set<const Value*> written_, outputs_;
  std::vector<const Value*> pending_;
  std::vector<wire::Node> nodes_;
  std::vector<wire::Tensor> initializers_;
  std::map<std::string, Name> constants_;                      // small ones, by type and content
  std::map<std::pair<const void*, std::string>, Name> large_;  // others, by data and type
  std::map<std::string, KnownDims> knownDims_;
  std::unordered_map<Name, Name> aliases_;
  std::map<std::string, Source> sources_;
};

wire::Attribute attribute(std::string_view name, int64_t value);
wire::Attribute attribute(std::string_view name, double value);
wire::Attribute attribute(std::string_view name, std::string_view value);
wire::Attribute attribute(std::string_view name, std::vector<int64_t> values);

// An i64 vector with these elements: an initializer, or nodes that compute it. A reason when some
// dimension cannot be computed.
struct DimsResult {
  Name name;
  std::string refusal;
};
DimsResult writeDims(GraphWriter& writer, const std::vector<Dim>& dims);
// The same with another type, or of rank 0.
DimsResult writeDims(GraphWriter& writer, const std::vector<Dim>& dims, DataType type, bool scalar);
std::string whyNoDims(const GraphWriter& writer, const std::vector<Dim>& dims);  // empty: can

}  // namespace camshaft::onnx::writer
