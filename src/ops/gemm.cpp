#include "ops/gemm.h"

#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

// Of the last two dimensions of an operand, in the order they multiply.
template <class T>
std::pair<T, T> matrixOf(const std::vector<T>& shape, bool transposed) {
  const T& rows = shape[shape.size() - 2];
  const T& columns = shape.back();
  return transposed ? std::pair{columns, rows} : std::pair{rows, columns};
}

template <class T>
std::vector<T> batchOf(const std::vector<T>& shape) {
  return std::vector<T>(shape.begin(), shape.end() - 2);
}

std::vector<TensorType> inferMatMul(const Node& node) {
  const auto& attrs = node.as<MatMulAttrs>();
  const TensorType& a = node.inputs[0]->type;
  const TensorType& b = node.inputs[1]->type;
  if (a.rank() < 2 || b.rank() < 2)
    fail(ErrorKind::kInvalidModel, describe(node), " multiplies ", a, " by ", b,
         " where both need at least two dimensions");
  const auto [rows, aInner] = matrixOf(a.shape, attrs.transposeA);
  const auto [bInner, columns] = matrixOf(b.shape, attrs.transposeB);
  if (!mayBeEqual(aInner, bInner))
    fail(ErrorKind::kInvalidModel, describe(node), " multiplies ", a, " by ", b,
         " whose inner sizes ", aInner, " and ", bInner, " differ");
  requireSame(aInner, bInner, str(describe(node), " has inner sizes that differ"));
  Shape shape = broadcastShapes(batchOf(a.shape), batchOf(b.shape), describe(node));
  shape.push_back(rows);
  shape.push_back(columns);
  return {{productType(node), shape}};
}

template <class Wide>
std::vector<Wide> multiply(const Evaluation& evaluation, const std::vector<Wide>& a,
                           const std::vector<Wide>& b) {
  const auto& attrs = evaluation.node.as<MatMulAttrs>();
  const Dims &aDims = evaluation.inputs[0].dims, &bDims = evaluation.inputs[1].dims;
  const Dims& outDims = evaluation.outputs[0].dims;
  const std::pair<int64_t, int64_t> matrix = matrixOf(aDims, attrs.transposeA);
  const int64_t rows = matrix.first, inner = matrix.second;
  const int64_t columns = outDims.back();
  const int64_t aRow = attrs.transposeA ? 1 : inner, aInner = attrs.transposeA ? rows : 1;
  const int64_t bInner = attrs.transposeB ? 1 : columns, bColumn = attrs.transposeB ? inner : 1;

  const Dims batch = batchOf(outDims);
  const Dims aBatch = broadcastStrides(batchOf(aDims), batch),
             bBatch = broadcastStrides(batchOf(bDims), batch);
  std::vector<Wide> out(evaluation.outputs[0].count());
  Wide* row = out.data();
  forEachIndex(batch, [&](const Dims& index) {
    const Wide* aMatrix = a.data() + offsetOf(index, aBatch) * rows * inner;
    const Wide* bMatrix = b.data() + offsetOf(index, bBatch) * inner * columns;
    for (int64_t i = 0; i < rows; ++i, row += columns)
      for (int64_t k = 0; k < inner; ++k)
        for (int64_t j = 0; j < columns; ++j)
          row[j] += aMatrix[i * aRow + k * aInner] * bMatrix[k * bInner + j * bColumn];
  });
  return out;
}

void evaluateMatMul(const Evaluation& evaluation) {
  const ConstTensorView &a = evaluation.inputs[0], &b = evaluation.inputs[1];
  if (isFloat(a.type))
    writeReals(evaluation.outputs[0], multiply(evaluation, readReals(a), readReals(b)));
  else
    writeIntegers(evaluation.outputs[0], multiply(evaluation, readIntegers(a), readIntegers(b)));
}

}  // namespace

const OpInfo ops::MatMul = {"MatMul",      2, 2, 1, makeAttrsOf<MatMulAttrs>, inferMatMul,
                            evaluateMatMul};

}  // namespace camshaft
