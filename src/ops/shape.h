// Where sizes become tensors and tensors become sizes.
#pragma once

#include "ir/graph.h"
#include "ops/ops.h"

namespace camshaft {

// Shape(x): sizes of dimensions begin.. up to end, as an i64 vector. Its contents are known
// symbolically, so shape arithmetic folds away.
struct ShapeAttrs : AttrsOf<ShapeAttrs> {
  int64_t begin = 0, end = 0;  // resolved: 0 <= begin <= end <= rank
  void fields(AttrVisitor& visit) override {
    visit("begin", begin);
    visit("end", end);
  }
};

// Range(start, delta): `count` elements start + i*delta, of the scalars' type.
struct RangeAttrs : AttrsOf<RangeAttrs> {
  Dim count = 0;
  void fields(AttrVisitor& visit) override { visit("count", count); }
};

// ReshapeDims(shape): the sizes a Reshape to a run-time shape gives: `input` is the shape of the
// tensor, 0 copies its size (unless allowZero) and -1 takes what is left.
struct ReshapeDimsAttrs : AttrsOf<ReshapeDimsAttrs> {
  Shape input;
  bool allowZero = false;
  void fields(AttrVisitor& visit) override {
    visit("input", input);
    visit("allow_zero", allowZero);
  }
};

// BindDims(vector): gives the symbols in `symbols` the values of the vector's elements. No output.
struct BindDimsAttrs : AttrsOf<BindDimsAttrs> {
  std::vector<Dim> symbols;
  void fields(AttrVisitor& visit) override { visit("symbols", symbols); }
};

// DimsTensor(): an integer vector (or rank-0 tensor) whose elements are dimensions. What shape
// arithmetic becomes once folded, where a tensor of it is still needed.
struct DimsTensorAttrs : AttrsOf<DimsTensorAttrs> {
  std::vector<Dim> values;
  bool scalar = false;  // rank 0, one value
  DataType type = DataType::kI64;
  void fields(AttrVisitor& visit) override {
    visit("values", values);
    visit("scalar", scalar);
    visit("type", type);
  }
};

// Element values of a small integer tensor as dimensions. When they are not known symbolically,
// inserts a BindDims (before `before`, or at the end) that reads them at run time.
std::vector<Dim> contentsOf(Graph& graph, Value* value, const std::string& who,
                            Node* before = nullptr);
// The same, of elements that are at most `bounds`: memory is planned for that.
std::vector<Dim> boundedSizes(Graph& graph, Value* value, const std::vector<Dim>& bounds,
                              const std::string& who, Node* before = nullptr);
// Makes runs fail, with `what` in the message, where an integer scalar is not `expected`: a
// BindDims of a symbol that can have no other value.
void addAssertion(Graph& graph, Value* value, int64_t expected, const std::string& what,
                  Node* before = nullptr);
bool isAssertion(const Graph& graph, const Node& node);
// An i64 vector with these elements: a constant, or a DimsTensor node.
Value* addDims(Graph& graph, const std::string& name, const std::vector<Dim>& dims,
               Node* before = nullptr);

}  // namespace camshaft
