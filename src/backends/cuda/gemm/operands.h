// How the operands of a MatMul or MatMulInteger lie against its result.
#pragma once

#include <algorithm>
#include <vector>

#include "backends/cuda/codegen/strides.h"
#include "ops/gemm.h"
#include "ops/ops.h"

namespace camshaft::cuda {

// Products of integers lie as MatMul has its operands by default.
inline MatMulAttrs matMulAttrsOf(const Node& node) {
  return node.op == &ops::MatMul || node.op == &ops::MomentMatMul ? node.as<MatMulAttrs>()
                                                                  : MatMulAttrs{};
}

inline Shape leadingDims(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

// Strides of an operand's matrices against the result's dimensions; zeros for the last two.
inline std::vector<Dim> itemStrides(const Shape& operand, const Shape& result) {
  std::vector<Dim> strides = broadcastStrides(leadingDims(operand), leadingDims(result));
  for (Dim& stride : strides) stride *= operand[operand.size() - 2] * operand.back();
  strides.insert(strides.end(), {0, 0});
  return strides;
}

inline bool isOneMatrix(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end() - 2,
                     [](const Dim& dim) { return dim.isConstant(1); });
}

}  // namespace camshaft::cuda
