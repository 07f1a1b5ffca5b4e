// Pointwise: any scalar expression over inputs broadcast to one shape. Add, Relu, Where, Cast,
// Gelu, comparisons and quantisation are all this one operator.
#pragma once

#include "ir/graph.h"
#include "ops/ops.h"

namespace camshaft {

struct PointwiseAttrs : AttrsOf<PointwiseAttrs> {
  Expr expr;
  void fields(AttrVisitor& visit) override { visit("expr", expr); }
};

// PointwiseParts(operands...): tensors put together from parts, as rotated queries and keys are. A
// part is a box of its output, and its elements are an expression of elements of operands, which
// lie at places that are affine in the index within the box: views of operands need not be made.
// The boxes of an output fill it, without a place in two of them.
//
// An output may be a cache instead, a copy of an input but for rows: parts make a tensor of the
// shape given for it, and tuple t of another input, as ScatterND has them, leads to the row of the
// cache that the t-th of as many elements of that tensor replace. No two lead to the same; those
// that lead outside are left out.
struct PointwisePartsAttrs : AttrsOf<PointwisePartsAttrs> {
  static constexpr size_t kMostParts = 8, kMostOutputs = 4;
  struct Part {
    int64_t output = 0;
    std::vector<Dim> begin, size;  // of the box
    Expr expr;
    std::vector<int64_t> inputs;  // of the node, that the expression's inputs read
    // For each of these where the box's first element reads, and the distance of what neighbours
    // along each dimension read, in elements.
    std::vector<Dim> places;
    Dim placeOf(size_t input) const { return places[input * (size.size() + 1)]; }
    Shape stridesOf(size_t input) const {
      const auto first = places.begin() + static_cast<int64_t>(input * (size.size() + 1) + 1);
      return {first, first + static_cast<int64_t>(size.size())};
    }
  };
  std::vector<Shape> shapes;  // of outputs, or of what is written into them
  std::vector<Part> parts;
  // Of each output the inputs that it is a copy of and that has its rows, or -1; empty: all -1.
  std::vector<int64_t> caches, rows;
  bool isCache(size_t output) const { return output < caches.size() && caches[output] >= 0; }
  void fields(AttrVisitor& visit) override;
};

// NumPy broadcasting. A symbolic size against another is taken as equal to it (a size that turns
// out to be 1 at run time is caught when shapes are set). Throws, naming `who`, when sizes
// conflict.
Shape broadcastShapes(const Shape& a, const Shape& b, const std::string& who);

// Nodes with one scalar operation, appended or inserted before `before`; inputs broadcast.
Value* addUnary(Graph& graph, ScalarOp op, const std::string& name, Value* x,
                Node* before = nullptr);
Value* addBinary(Graph& graph, ScalarOp op, const std::string& name, Value* a, Value* b,
                 Node* before = nullptr);
Value* addCast(Graph& graph, const std::string& name, Value* x, DataType type,
               Node* before = nullptr);
Value* addPointwise(Graph& graph, const std::string& name, std::vector<Value*> inputs, Expr expr,
                    Node* before = nullptr);
// A constant of rank 0.
Value* addScalar(Graph& graph, const std::string& name, DataType type, double value);

// The expression on host tensors, each input broadcast to the output's shape.
void evaluateExpr(const Expr& expr, std::span<const ConstTensorView> inputs,
                  const TensorView& output);

}  // namespace camshaft
