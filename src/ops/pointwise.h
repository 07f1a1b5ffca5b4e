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
