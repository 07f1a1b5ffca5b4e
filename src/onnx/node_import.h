// What an operator's import function sees of one ONNX node: inputs as values of the graph,
// attributes by name and type, and the graph to add to.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/sequence.h"
#include "support/error.h"

namespace camshaft::onnx {
class PluginSource;
}

namespace camshaft::onnx::importer {

struct Scope;
class BodyImport;
class InputSizes;
class ModelImport;

// The ranks that an input may have.
struct Ranks {
  static constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  Ranks(int64_t rank) : least(rank), most(rank) {}
  Ranks(int64_t least, int64_t most) : least(least), most(most) {}
  static Ranks from(int64_t least) { return {least, kAny}; }
  int64_t least, most;
};

class NodeImport {
 public:
  NodeImport(ModelImport& model, Scope& scope, const wire::Node& node, int64_t opset);

  Graph& graph() const;
  InputSizes& inputSizes() const;
  const PluginSource* plugins() const;
  const std::string& name() const { return name_; }
  std::string_view opType() const { return node_.opType; }
  int64_t opset() const { return opset_; }

  // Inputs. Trailing omitted ones are not counted.
  int inputCount() const;
  bool hasInput(int i) const { return optionalInput(i) != nullptr; }
  Value* optionalInput(int i) const;
  Value* input(int i) const;  // refuses the node when it is missing
  // The same where the shape is going to be indexed: these refuse any other rank.
  Value* optionalInput(int i, Ranks ranks) const;
  Value* input(int i, Ranks ranks) const;
  std::vector<Value*> allInputs() const;
  // For operators that take sequences and optionals; the functions above refuse these.
  std::optional<Item> optionalItem(int i) const;
  Item item(int i) const;
  Sequence sequence(int i) const;     // whose elements are known
  Sequence anySequence(int i) const;  // or one whose length the run decides

  // Element values of an integer input as dimensions, read at run time when they must be.
  std::vector<Dim> dims(int i) const;
  std::vector<Dim> dims(Value* value) const;
  // Element values, where they are known now.
  std::optional<std::vector<int64_t>> knownIntegers(const Value* value) const;
  std::optional<std::vector<double>> knownNumbers(const Value* value) const;

  // Attributes. The forms without a default refuse the node when the attribute is missing.
  bool has(std::string_view attribute) const { return find(attribute) != nullptr; }
  int64_t integer(std::string_view attribute) const;
  int64_t integer(std::string_view attribute, int64_t missing) const;
  bool flag(std::string_view attribute, bool missing = false) const {
    return integer(attribute, missing) != 0;
  }
  double number(std::string_view attribute, double missing) const;
  std::string text(std::string_view attribute, std::string_view missing) const;
  std::vector<int64_t> integers(std::string_view attribute,
                                std::vector<int64_t> missing = {}) const;
  std::vector<double> numbers(std::string_view attribute) const;
  std::vector<std::string> texts(std::string_view attribute) const;
  DataType dataType(std::string_view attribute) const;
  DataType dataType(std::string_view attribute, DataType missing) const;
  Value* tensor(std::string_view attribute) const;  // as a constant
  Value* sparseTensor(std::string_view attribute) const;
  const wire::Attribute* find(std::string_view attribute) const;
  const wire::Node& wireNode() const { return node_; }
  // Position in `spellings` of a text attribute; refuses any other spelling.
  int choice(std::string_view attribute, std::string_view missing,
             std::initializer_list<std::string_view> spellings) const;

  // Throws when it is more than a tensor can have, whatever a model says of a vector's length.
  int64_t rank(int64_t count) const;
  // Axis in 0..rank-1 from one that may count from the end.
  int64_t axis(int64_t axis, int64_t rank) const;
  int64_t axisAttribute(std::string_view attribute, int64_t missing, int64_t rank) const;
  std::vector<int64_t> axes(std::vector<int64_t> axes, int64_t rank) const;  // sorted, no repeats

  // Adding to the graph. Nodes get this node's name, and its ONNX name as their origin.
  template <class A>
  Node* addNode(Op op, std::vector<Value*> inputs, A attrs, int outputs = -1) const {
    return addNodeOf(op, std::move(inputs), std::make_unique<A>(std::move(attrs)), outputs);
  }
  template <class A>
  Value* add(Op op, std::vector<Value*> inputs, A attrs) const {
    return addNode(op, std::move(inputs), std::move(attrs))->output();
  }
  Value* unary(ScalarOp op, Value* x) const;
  Value* binary(ScalarOp op, Value* a, Value* b) const;
  Value* binary(ScalarOp op, Value* a, double b) const;
  Value* pointwise(std::vector<Value*> inputs, Expr expr) const;
  Value* cast(Value* x, DataType type) const;  // x itself when it has the type
  Value* scalar(DataType type, double value) const;
  Value* reshape(Value* x, Shape shape) const;  // x itself when it has the shape
  Value* transpose(Value* x, std::vector<int64_t> order) const;
  Value* expand(Value* x, Shape shape) const;
  // `size` elements of an axis, every step-th from `start` on; x itself when these are all.
  Value* slice(Value* x, int64_t axis, Dim start, Dim size, int64_t step = 1) const;
  Value* concat(std::vector<Value*> parts, int64_t axis) const;
  Value* append(Value* past, Value* rows, int64_t axis) const;  // concat, or a cache written
  Value* integerVector(const std::vector<int64_t>& values) const;

  // Where a rank follows from values that only a run knows, the model may still declare it.
  std::optional<int64_t> declaredRank(int output) const;
  int outputCount() const { return static_cast<int>(node_.outputs.size()); }
  bool wants(int output) const;  // somebody asked for this output by name
  void setOutput(int output, Value* value);
  void setOutput(Value* value) { setOutput(0, value); }
  void setOutput(int output, Item item);
  // Imports a subgraph attribute in place, with these as its inputs, and returns its outputs.
  // `part` keeps the names of several copies apart.
  std::vector<Item> importBranch(std::string_view attribute, const std::vector<Item>& inputs = {},
                                 std::string_view part = {}) const;
  // A subgraph attribute as a body in a graph of its own, to be run.
  std::unique_ptr<BodyImport> body(std::string_view attribute) const;

  template <class... Args>
  [[noreturn]] void unsupported(const Args&... args) const {
    fail(ErrorKind::kUnsupported, str(args...));
  }
  template <class... Args>
  [[noreturn]] void invalid(const Args&... args) const {
    fail(ErrorKind::kInvalidModel, str(args...));
  }

 private:
  Node* addNodeOf(Op op, std::vector<Value*> inputs, std::unique_ptr<Attrs> attrs,
                  int outputs) const;
  const wire::Attribute* find(std::string_view attribute, wire::AttributeType type) const;
  const wire::Graph& subgraph(std::string_view attribute) const;

  ModelImport& model_;
  Scope& scope_;
  const wire::Node& node_;
  std::string name_;
  int64_t opset_;
};

// "conv1", or the operator and its output when the node has no name.
std::string nodeName(const wire::Node& node);

}  // namespace camshaft::onnx::importer
