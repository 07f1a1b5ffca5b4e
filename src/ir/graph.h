// The one intermediate representation: values, nodes and the graph that owns them.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/op.h"
#include "ir/origins.h"
#include "ir/size_condition.h"
#include "ir/user_list.h"

namespace camshaft {

class Graph;
struct Node;

// A tensor: a graph input, a constant, or the output of a node.
struct Value {
  std::string name;  // unique in the graph, without the '%' of the text form
  TensorType type;
  Node* producer = nullptr;  // null for inputs and constants
  int index = 0;             // which output of the producer
  ConstantPtr constant;      // set for constants
  // Element values, for small integer tensors that take part in shape arithmetic.
  std::optional<std::vector<Dim>> contents;
  UserList users;  // one entry per use

  bool isConstant() const { return constant != nullptr; }
  bool isOpaque() const { return constant && constant->isOpaque; }
  const Shape& shape() const { return type.shape; }
  int64_t rank() const { return type.rank(); }
  DataType dataType() const { return type.type; }
  ConstTensorView view() const;  // of a constant

 private:
  friend class Graph;
  std::set<size_t> outputs_;  // which of the graph's outputs it is
};

// An expression applied to the node's result before it is stored. Its input 0 is that result,
// input i (i > 0) is node.inputs[firstInput + i - 1], broadcast to the result's shape.
struct Epilogue {
  Expr expr;
  int firstInput = 0;
};

// What the user asked of a node's arithmetic. Set before the passes, acted on by lower_precision.
struct PrecisionRequest {
  std::optional<DataType> compute;
  std::vector<std::optional<DataType>>
      outputs;  // storage of output i; may list fewer than there are

  bool empty() const { return !compute && outputs.empty(); }
  std::optional<DataType> output(size_t i) const {
    return i < outputs.size() ? outputs[i] : std::nullopt;
  }
};

struct Node {
  std::string name;  // of the ONNX node or layer it came from, unique names not required
  Op op = nullptr;
  std::unique_ptr<Attrs> attrs;
  std::vector<Value*> inputs;  // null: an optional input left out
  std::vector<Value*> outputs;
  std::optional<Epilogue> epilogue;
  Origins origins;  // the ONNX nodes whose work this node does
  PrecisionRequest precision;

  // Inputs of the operator itself, without the epilogue's.
  int ownInputs() const {
    return epilogue ? epilogue->firstInput : static_cast<int>(inputs.size());
  }
  bool hasInput(int i) const { return i < ownInputs() && inputs[i] != nullptr; }
  Value* input(int i) const { return hasInput(i) ? inputs[i] : nullptr; }
  Value* output(int i = 0) const { return outputs[i]; }
  template <class A>
  const A& as() const {
    return static_cast<const A&>(*attrs);
  }
  template <class A>
  A& as() {
    return static_cast<A&>(*attrs);
  }
  // Type of output i before the epilogue (which may only change its element type).
  TensorType resultBeforeEpilogue(int i = 0) const;

 private:
  friend class Graph;
  friend class UserList;
  std::list<std::unique_ptr<Node>>::iterator position_;
  std::vector<size_t> usePlaces_;  // of each input, in the list of the value's users
};

// What is known of a named dimension before it has a value.
struct SymbolInfo {
  DimRange range;
  // A bound in terms of other symbols, for sizes that depend on data: no more elements are selected
  // than there are. Never leads back to the symbol itself.
  std::optional<Dim> upper;
};

// Owns values and nodes. Nodes are kept in an order that computes every value before its use.
// Not thread-safe; cheap to move, copied by clone().
class Graph {
 public:
  struct Output {
    std::string name;  // what the user calls it; survives rewrites of the value
    Value* value;
  };

  // Reads like a vector; Graph's functions change it.
  class Outputs {
   public:
    auto begin() const { return list_.begin(); }
    auto end() const { return list_.end(); }
    bool empty() const { return list_.empty(); }
    size_t size() const { return list_.size(); }
    const Output& operator[](size_t i) const { return list_[i]; }
    const Output& at(size_t i) const { return list_.at(i); }
    const Output& front() const { return list_.front(); }
    const Output& back() const { return list_.back(); }

   private:
    friend class Graph;
    std::vector<Output> list_;
  };

  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  Graph clone() const;

  std::string name = "graph";
  std::vector<Value*> inputs;
  Outputs outputs;
  std::unordered_map<std::string, SymbolInfo> symbols;
  // What every run must satisfy, whatever becomes of the nodes that asked for it; by text.
  std::map<std::string, SizeCondition> conditions;

  Value* addInput(std::string name, TensorType type);
  void removeInput(Value* input);  // only when it has no users
  Value* addConstant(std::string name, TensorType type, ConstantPtr data);
  template <class T>
  Value* addConstant(std::string name, DataType type, const Dims& dims, std::span<const T> values) {
    return addConstant(std::move(name), {type, makeShape(dims)}, ConstantData::of(values));
  }
  void addOutput(std::string name, Value* value);
  void setOutput(size_t index, Value* value);
  void setOutputs(std::vector<Output> list);
  void renameOutput(size_t index, std::string name) {
    outputs.list_.at(index).name = std::move(name);
  }

  // Appends (or inserts before `before`) a node, infers its output types and contents. Output
  // names default to the node's name made unique.
  Node* addNode(Op op, std::string name, std::vector<Value*> inputs, std::unique_ptr<Attrs> attrs,
                int outputCount = -1, Node* before = nullptr);
  template <class A>
  Node* add(Op op, std::string name, std::vector<Value*> inputs, A attrs, Node* before = nullptr,
            int outputCount = -1) {
    return addNode(op, std::move(name), std::move(inputs), std::make_unique<A>(std::move(attrs)),
                   outputCount, before);
  }
  void inferTypes(Node* node);  // again, after its inputs or attributes changed
  void inferAllTypes();

  void setInput(Node* node, int index, Value* value);
  void addInputTo(Node* node, Value* value);
  void setInputs(Node* node, std::vector<Value*> inputs);
  // Every use of `from`, graph outputs included, reads `to` instead.
  void replaceUses(Value* from, Value* to);
  void erase(Node* node);        // only when no output is used
  void eraseIfDead(Node* node);  // with the producers that die with it
  void moveBefore(Node* node, Node* before);
  void eraseUnusedConstants();

  bool isOutput(const Value* value) const { return !value->outputs_.empty(); }
  bool hasUses(const Value* value) const { return !value->users.empty() || isOutput(value); }
  // A name not taken yet: `base`, else base_1, base_2, ...
  std::string uniqueName(const std::string& base);
  void rename(Value* value, const std::string& name);
  Value* find(std::string_view name) const;

  // A new named dimension that is not taken yet.
  Dim newSymbol(const std::string& base, DimRange range = {}, std::optional<Dim> upper = {});
  SymbolRange symbolRange() const;  // upper bounds included
  // Adds a condition unless it is there or always holds; throws its sentence where it never does.
  void require(SizeCondition condition);

  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  std::vector<Node*> nodeList() const;  // a snapshot that survives edits while walking
  size_t nodeCount() const { return nodes_.size(); }
  // The node after this one in order, or null: where something computed from it may be inserted.
  Node* next(const Node* node) const;
  std::vector<Value*> values() const;

 private:
  Value* newValue(std::string name, TensorType type);
  void dropValue(Value* value);
  void addUse(Node* node, size_t input);
  void removeUse(Node* node, size_t input);

  std::list<std::unique_ptr<Node>> nodes_;
  std::unordered_map<std::string, std::unique_ptr<Value>> values_;
  std::unordered_map<std::string, int> nextSuffix_, nextSymbolSuffix_;
};

// Human-readable position for messages: "node 'conv1' (Conv)".
std::string describe(const Node& node);

// Names of the symbols that get their values when the node runs (OpInfo::defines).
std::set<std::string> symbolsDefined(const Node& node);
// The bodies among a node's attributes; those that are left out are null.
std::vector<BodyPtr*> bodiesOf(Node& node);
std::vector<const Graph*> bodiesOf(const Node& node);

// The text form and back; parse throws Error with the line number. Constants over 16 elements
// print as a digest unless `fullConstants`; then the text parses back to an equal graph.
std::string toText(const Graph& graph, bool fullConstants = false);
std::string toText(const Node& node);
// The same with constants, and objects of attributes, that stand beside the text: it has their
// numbers in the lists that are parsed with it.
using ConstantNumber = std::function<std::optional<size_t>(const Value& constant)>;
using ObjectNumber = std::function<size_t(const void* object)>;
std::string toText(const Graph& graph, const ConstantNumber& numberOf,
                   const ObjectNumber& objectNumberOf = nullptr);
using OpLookup = Op (*)(std::string_view name);
struct BesideText {
  std::span<const ConstantPtr> constants;
  std::span<const ObjectPtr> objects;
};
Graph parseGraph(std::string_view text, OpLookup findOp, const BesideText& beside = {});

// Throws Error(kInternal) when the graph breaks an invariant; `stage` names the pass just run.
void verify(const Graph& graph, std::string_view stage);

}  // namespace camshaft
