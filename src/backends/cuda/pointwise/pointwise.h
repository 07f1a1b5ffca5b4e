// Kernels in which every output element is an expression of input elements at affine positions:
// pointwise groups, transposes, slices and broadcasts, with whatever rides on them.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/codegen/kernel_text.h"

namespace camshaft::cuda {

// Where input `nodeInput` is read for the output element at coordinates c: offset + strides . c.
struct StridedOperand {
  int nodeInput = 0;
  Dim offset = 0;
  std::vector<Dim> strides;  // one per output dimension, in elements
};

// What a node of this family computes. Operand i is input i of the expression.
struct StridedProblem {
  Shape shape;  // of the output
  std::vector<StridedOperand> operands;
  Expr expr;
};

// Row-major strides.
std::vector<Dim> contiguousStrides(const Shape& shape);
// Strides of `from`, broadcast to `to` as NumPy does. Where only the run knows whether a dimension
// has size 1, the stride is an expression that is 0 then.
std::vector<Dim> broadcastStrides(const Shape& from, const Shape& to);
// 1 where a size is 2 or more, else 0.
Dim oneWhereSeveral(const Dim& size);

// The node's problem with its epilogue composed into the expression.
StridedProblem stridedProblemOf(const Node& node);
bool isStrided(const Node& node);

// Drops dimensions of size 1 and joins neighbours that every operand walks as one.
void collapse(StridedProblem& problem);

}  // namespace camshaft::cuda
