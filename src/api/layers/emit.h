// Where a layer puts its nodes, and the small pieces layers are made of.
#pragma once

#include <string>
#include <vector>

#include "NvInfer.h"
#include "ir/graph.h"
#include "ops/ops.h"
#include "ops/pointwise.h"

namespace camshaft::api {

struct Emission {
  Graph& graph;
  std::string name;              // the layer's, which its nodes get too
  std::vector<Value*> inputs;    // null: absent
  Node* before = nullptr;        // null: at the end
  std::string problem;           // why the layer cannot be built yet
  bool isStronglyTyped = false;  // the network

  bool has(size_t i) const { return i < inputs.size() && inputs[i]; }
  Value* input(size_t i) const;  // throws when it is absent
  std::string who() const { return str("layer '", name, "'"); }
  template <class... Args>
  [[noreturn]] void invalid(const Args&... args) const {
    fail(ErrorKind::kInvalidArgument, who(), " ", args...);
  }
  // It is added, and cannot be built yet.
  template <class... Args>
  void lacks(const Args&... args) {
    problem = str(who(), " ", args...);
  }
  // What another parameter, set later, may mend (LayerCore::pendingSizes).
  template <class... Args>
  [[noreturn]] void misfit(const Args&... args) const {
    fail(ErrorKind::kInvalidModel, who(), " ", args...);
  }
  template <class... Args>
  [[noreturn]] void unsupported(const Args&... args) const {
    fail(ErrorKind::kUnsupported, who(), " ", args...);
  }

  template <class A>
  Node* node(Op op, std::vector<Value*> operands, A attrs, int outputs = -1) {
    return graph.add(op, name, std::move(operands), std::move(attrs), before, outputs);
  }
  template <class A>
  Value* add(Op op, std::vector<Value*> operands, A attrs) {
    return node(op, std::move(operands), std::move(attrs))->output();
  }
  Value* pointwise(std::vector<Value*> operands, Expr expr);
  Value* scalar(DataType type, double value) { return addScalar(graph, name, type, value); }
  Value* cast(Value* x, DataType type);   // x itself when it has the type
  Value* reshape(Value* x, Shape shape);  // x itself when it has the shape
  Value* transpose(Value* x,
                   std::vector<int64_t> order);    // x itself when the order changes nothing
  Value* binary(ScalarOp op, Value* a, Value* b);  // of one type, broadcast
  Value* slice(Value* x, int64_t axis, Dim start, Dim size, int64_t step = 1);
  Value* concat(std::vector<Value*> parts, int64_t axis);
  Value* product(Value* a, Value* b, bool transposeB = false);
  Value* sum(Value* x, int64_t axis);                // without the axis
  Value* counting(DataType type, const Dim& count);  // 0, 1, ..., count - 1
  Value* sizeValue(const Dim& size);                 // an i64 scalar
  // Elements of input i as sizes, bound at run time when they are not known before.
  std::vector<Dim> dims(size_t i);
  std::vector<int64_t> constants(size_t i,
                                 std::string_view what);  // throws unless they are numbers
};

// The own type of one that a caller gave.
DataType typeIn(const Emission& at, nvinfer1::DataType type);
DataType indicesTypeIn(const Emission& at, nvinfer1::DataType type);  // kINT32 or kINT64
// 0 <= axis < rank; a negative axis counts from the end.
int64_t axisIn(const Emission& at, int64_t axis, int64_t rank);
std::vector<int64_t> axesOf(uint32_t mask);
uint32_t maskOf(const std::vector<int64_t>& axes);
int64_t onlyAxis(const Emission& at, uint32_t mask);  // throws unless exactly one bit is set

bool isZeroConstant(const Value* value);      // every element
bool areSizes(const std::vector<Dim>& dims);  // none is a negative number

// A caller's weights, copied.
struct WeightsCopy {
  DataType type = DataType::kF32;
  ConstantPtr data;  // null: none
  int64_t count = 0;

  WeightsCopy() = default;
  explicit WeightsCopy(const nvinfer1::Weights& weights);
  explicit WeightsCopy(const Value* constant);
  bool empty() const { return count == 0; }
  nvinfer1::Weights view() const;
  // As a constant of this type (converted between floating types) and shape, which must fit.
  Value* constant(Emission& at, std::string_view what, DataType as,
                  const camshaft::Dims& dims) const;
};

}  // namespace camshaft::api
