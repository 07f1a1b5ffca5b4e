// Inverses and distances of com.microsoft.
#include "onnx/node_import.h"
#include "onnx/ops/reduce.h"
#include "ops/gemm.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

// Distances between the rows of a and of b: sqrt(|a|² - 2ab + |b|²).
void importCDist(NodeImport& node) {
  const int metric = node.choice("metric", "sqeuclidean", {"sqeuclidean", "euclidean"});
  Value *a = node.input(0, 2), *b = node.input(1, 2);
  const auto norms = [&](Value* x) { return reduce(node, ReduceKind::kSumSquare, x, {1}); };
  MatMulAttrs attrs;
  attrs.transposeB = true;
  Value* twice = node.binary(ScalarOp::kMul, node.add(&ops::MatMul, {a, b}, attrs), 2.0);
  Value* sum = node.binary(ScalarOp::kAdd, norms(a), node.reshape(norms(b), {1, b->shape()[0]}));
  Value* squares = node.binary(ScalarOp::kMax, node.binary(ScalarOp::kSub, sum, twice), 0.0);
  node.setOutput(metric == 0 ? squares : node.unary(ScalarOp::kSqrt, squares));
}

// By Cramer's rule: the transposed cofactors over the determinant. Matrices that models invert are
// of two to four rows.
void importInverse(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(2));
  const int64_t rank = x->rank();
  // Cofactors are written out, as many as there are elements.
  if (!x->shape().back().isConstant())
    node.unsupported("it inverts matrices of ", x->shape().back(),
                     " columns, whose number must be known: fix it when exporting");
  const int64_t n = x->shape().back().value();
  if (n > 16) node.unsupported("matrices of more than 16 rows are not inverted");
  if (n == 1) return node.setOutput(node.unary(ScalarOp::kReciprocal, x));
  std::vector<int64_t> others;  // row i: all but i
  std::vector<float> signs;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      if (j != i) others.push_back(j);
      signs.push_back((i + j) % 2 == 0 ? 1.0f : -1.0f);
    }
  Value* kept = node.graph().addConstant<int64_t>(node.name(), DataType::kI64, {n, n - 1}, others);
  Value* sign = node.graph().addConstant<float>(node.name(), DataType::kF32, {n, n}, signs);
  GatherAttrs rows, columns;
  rows.axis = rank - 2;
  columns.axis = rank;
  Value* minors = node.add(&ops::Gather, {node.add(&ops::Gather, {x, kept}, rows), kept}, columns);
  std::vector<int64_t> order = axisRange(0, rank + 2);  // column before row: transposed
  std::swap(order[rank - 2], order[rank]);              // [..., column, rows, row, columns]
  std::swap(order[rank - 1], order[rank]);              // [..., column, row, rows, columns]
  const auto determinant = [&](Value* matrices) {
    return node.add(&ops::Determinant, {matrices}, NoAttrs{});
  };
  Value* cofactors = node.binary(ScalarOp::kMul, determinant(node.transpose(minors, order)),
                                 node.cast(sign, x->dataType()));
  Shape one = x->shape();
  one[rank - 2] = one[rank - 1] = 1;
  node.setOutput(node.binary(ScalarOp::kDiv, cofactors, node.reshape(determinant(x), one)));
}

}  // namespace camshaft::onnx::importer
