// An expression together with the values its inputs read: what passes edit.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace camshaft {

// Input i of the expression reads inputs[i].
struct BoundExpr {
  Expr expr;
  std::vector<Value*> inputs;
  friend bool operator==(const BoundExpr&, const BoundExpr&) = default;
};

BoundExpr boundExpr(const Node& pointwise);
// The node's epilogue, or the expression that changes nothing; its input 0 is the node's output.
BoundExpr boundEpilogue(const Node& anchor);

// `outer` with its reads of `value` computed by `inner` instead, whose inputs come first.
BoundExpr substituted(const BoundExpr& outer, const Value* value, const BoundExpr& inner);

// The same result from fewer instructions and inputs. Equal inputs become one, unused ones go
// (order kept), constants fold, equal instructions merge, and the algebra of simplify_expr.cpp
// applies. All kInput instructions come first, in order of their index.
BoundExpr simplified(const BoundExpr& bound);

// Gives a Pointwise node another expression. Refuses, changing nothing, when the inputs would no
// longer broadcast to the node's shape.
bool rewritePointwise(Graph& graph, Node* node, const BoundExpr& bound);

// Shape that the inputs broadcast to; the scalar's when there are none.
Shape broadcastShape(const std::vector<Value*>& inputs, const std::string& who);

}  // namespace camshaft
