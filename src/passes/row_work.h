// Nodes that compute each row of a tensor alike and for itself, whatever arrangement the rows have.
#pragma once

#include "ir/graph.h"

namespace camshaft {

// Varies along the last dimension at most, whatever rows it is broadcast to.
bool sameForAllRows(const Value* value, size_t rank);

// Rows by one matrix, of real numbers or of bytes with one zero point. False for null.
bool isProductOfRows(const Node* node);

// The rows that a product or a Pointwise computes, whose other operands are of rank `most` at most;
// null where the node is neither, reads other rows too or has an epilogue.
Value* rowsOf(const Node* node, size_t most);

// The rows that a Reshape arranges in another way; null where it is none or makes others.
Value* rearrangedRows(const Node* node);

}  // namespace camshaft
