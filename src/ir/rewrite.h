// What passes need to recognise and replace pieces of a graph.
#pragma once

#include "ir/graph.h"

namespace camshaft {

// The node that computes the value when it is this operator without an epilogue, else null.
Node* producerOf(const Value* value, Op op);
// The value behind a chain of one-input producers of this operator (Identity, Transpose, ...).
Value* skipThrough(Value* value, Op op);
// The input that is not `one` of a node with two inputs, or null when `one` is neither.
Value* otherInput(const Node* node, const Value* one);

// Exactly one use, and that is by a node: rewriting that user leaves the value dead.
bool onlyUser(const Graph& graph, const Value* value);
// That one user when it is this operator, else null.
Node* onlyUser(const Graph& graph, const Value* value, Op op);

bool readsOpaque(const Node& node);  // some input is an opaque constant

// A constant whose elements all are one number (of any rank, not empty). An opaque one never is.
bool isScalarConstant(const Value* value, double* number = nullptr);
// The same, and that number is close to `number` to a float's precision.
bool isScalarConstant(const Value* value, double number, double tolerance = 1e-6);

// Adds the origins of `from` (its name when it has none) to those of `to`, without repeats. Where
// `from` was asked to compute in f32, so is `to`.
void mergeOrigins(Node* to, const Node* from);
// Every use of the node's only output reads `replacement`; the node goes, with producers that die.
// Its origins move to the replacement's producer.
void replaceAndErase(Graph& graph, Node* node, Value* replacement);

// The first node that may be told to read the value; insert before it. Null: at the end.
Node* insertionPointAfter(const Graph& graph, const Value* value);

}  // namespace camshaft
