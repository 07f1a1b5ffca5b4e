#include "passes/row_work.h"

#include <algorithm>

#include "ops/gemm.h"
#include "ops/gemm_int8.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"

namespace camshaft {

bool sameForAllRows(const Value* value, size_t rank) {
  const Shape& shape = value->shape();
  return shape.size() <= rank &&
         (shape.empty() || std::all_of(shape.begin(), shape.end() - 1,
                                       [](const Dim& dim) { return dim.isConstant(1); }));
}

bool isProductOfRows(const Node* node) {
  if (!node || (node->op != &ops::MatMul && node->op != &ops::MatMulInteger)) return false;
  if (node->input(1)->rank() != 2) return false;
  if (node->op == &ops::MatMul) return !node->as<MatMulAttrs>().transposeA;
  return !node->hasInput(2) || isOneNumber(*node->input(2));
}

Value* rowsOf(const Node* node, size_t most) {
  if (!node || node->epilogue) return nullptr;
  if (isProductOfRows(node)) return node->input(0);
  if (node->op != &ops::Pointwise) return nullptr;
  Value* rows = nullptr;
  const Shape& shape = node->output()->shape();
  for (Value* input : node->inputs) {
    const bool isRows = input->shape() == shape;
    if (input == rows || (!isRows && sameForAllRows(input, std::min(most, shape.size())))) continue;
    if (rows || !isRows) return nullptr;
    rows = input;
  }
  return rows;
}

Value* rearrangedRows(const Node* node) {
  if (!node || node->op != &ops::Reshape || node->epilogue) return nullptr;
  const Shape &from = node->input(0)->shape(), &to = node->output()->shape();
  const bool keepsRows = !from.empty() && !to.empty() && from.back() == to.back();
  return keepsRows ? node->input(0) : nullptr;
}

}  // namespace camshaft
