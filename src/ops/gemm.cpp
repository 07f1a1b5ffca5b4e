#include "ops/gemm.h"

#include <cmath>

#include "ops/norm.h"
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

std::vector<TensorType> inferMomentMatMul(const Node& node) {
  std::vector<TensorType> types = inferMatMul(node);
  if (!isFloat(types[0].type) || !hasMoments(types[0].shape))
    fail(ErrorKind::kInvalidModel, describe(node), " gives rows of a multiple of ", kMomentColumns,
         " real numbers, not ", types[0]);
  types.push_back({DataType::kF32, momentsShape(types[0].shape)});
  return types;
}

void finishMomentMatMul(const ConstTensorView& result, std::span<const TensorView> others) {
  writeReals(others[0], momentsOfRows(readReals(result)));
}

std::vector<TensorType> inferNormMatMul(const Node& node) {
  const auto& attrs = node.as<NormMatMulAttrs>();
  const TensorType &x = node.inputs[0]->type, &w = node.inputs[1]->type;
  requireFloat(node, 0);
  requireSameType(node, 1, 0);
  if (x.rank() < 2) fail(ErrorKind::kInvalidModel, describe(node), " multiplies rows, not ", x);
  requireRank(node, 1, "weights", 2);
  const auto [depth, columns] = matrixOf(w.shape, attrs.transposeB);
  requireSame(x.shape.back(), depth, str(describe(node), " has inner sizes that differ"));
  if (!hasMoments(x.shape))
    fail(ErrorKind::kInvalidModel, describe(node), " normalises rows of a multiple of ",
         kMomentColumns, " elements, not ", x);
  if (node.inputs[attrs.kMoments]->dataType() != DataType::kF32)
    fail(ErrorKind::kInvalidModel, describe(node), " reads moments of f32, not ",
         node.inputs[attrs.kMoments]->type);
  requireShape(node, attrs.kMoments, "moments", momentsShape(x.shape));
  for (int input : {attrs.kScale, attrs.kBias})
    if (node.hasInput(input)) {
      requireFloat(node, input);
      requireShape(node, input, "a scale or bias", {depth});
    }
  TensorType result = x, moments{DataType::kF32, x.shape};
  result.shape.back() = columns;
  moments.shape.back() = 1;
  if (!attrs.keepsMoments) return {result};
  return {result, moments, moments};
}

// Means and factors of rows, as the operator keeps them.
struct Moments {
  std::vector<double> means, factors;
};
Moments momentsOf(const std::vector<double>& blocks, size_t depth, const NormMatMulAttrs& attrs) {
  Moments moments;
  const size_t count = depth / kMomentColumns;
  for (size_t row = 0; row < blocks.size(); row += count * 2) {
    double mean = 0, squares = 0;
    for (size_t i = 0; !attrs.rms && i < count; ++i) mean += blocks[row + i * 2] / count;
    for (size_t i = 0; i < count; ++i) {
      const double away = blocks[row + i * 2] - mean;
      squares += blocks[row + i * 2 + 1] + away * away * kMomentColumns;
    }
    moments.means.push_back(mean);
    moments.factors.push_back(1 / std::sqrt(squares / static_cast<double>(depth) + attrs.epsilon));
  }
  return moments;
}

void evaluateNormMatMul(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<NormMatMulAttrs>();
  const auto depth = static_cast<size_t>(evaluation.inputs[0].dims.back());
  const auto columns = static_cast<size_t>(evaluation.outputs[0].dims.back());
  std::vector<double> rows = readReals(evaluation.inputs[0]);
  const std::vector<double> weights = readReals(evaluation.inputs[1]);
  const auto perColumn = [&](int input, double otherwise) {
    return evaluation.node.hasInput(input) ? readReals(evaluation.inputs[input])
                                           : std::vector<double>(depth, otherwise);
  };
  const std::vector<double> scale = perColumn(attrs.kScale, 1), bias = perColumn(attrs.kBias, 0);
  const Moments moments = momentsOf(readReals(evaluation.inputs[attrs.kMoments]), depth, attrs);
  std::vector<double> out(moments.means.size() * columns);
  for (size_t row = 0; row < moments.means.size(); ++row)
    for (size_t k = 0; k < depth; ++k) {
      double& x = rows[row * depth + k];
      x = (x - moments.means[row]) * moments.factors[row] * scale[k] + bias[k];
      for (size_t j = 0; j < columns; ++j)
        out[row * columns + j] += x * weights[attrs.transposeB ? j * depth + k : k * columns + j];
    }
  writeReals(evaluation.outputs[0], out);
  if (!attrs.keepsMoments) return;
  writeReals(evaluation.outputs[attrs.meanOutput()], moments.means);
  writeReals(evaluation.outputs[attrs.factorOutput()], moments.factors);
}

}  // namespace

const OpInfo ops::MatMul = {"MatMul",      2, 2, 1, makeAttrsOf<MatMulAttrs>, inferMatMul,
                            evaluateMatMul};
const OpInfo ops::MomentMatMul = {.name = "MomentMatMul",
                                  .minInputs = 2,
                                  .maxInputs = 2,
                                  .outputs = 2,
                                  .makeAttrs = makeAttrsOf<MatMulAttrs>,
                                  .infer = inferMomentMatMul,
                                  .evaluate = evaluateMatMul,
                                  .finish = finishMomentMatMul};
const OpInfo ops::NormMatMul = {
    "NormMatMul", 3, 5, -1, makeAttrsOf<NormMatMulAttrs>, inferNormMatMul, evaluateNormMatMul};

}  // namespace camshaft
