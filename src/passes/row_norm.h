// Norms of rows as the products that read them take them over.
#pragma once

#include "ir/graph.h"

namespace camshaft {

struct RowNorm {
  Value *x = nullptr, *factors = nullptr, *shifts = nullptr;  // these two may be none
  Value* result = nullptr;
};

inline constexpr size_t kMostNormReaders = 2;  // each does the work again

// What a LayerNorm makes of the rows of x, also where models widen x for it and narrow its result;
// without a result where no product takes it over.
RowNorm rowNormOf(const Graph& graph, const Node& norm);

// Whether the node is pointwise work and nothing else.
bool isPlainPointwise(const Node* node);

}  // namespace camshaft
