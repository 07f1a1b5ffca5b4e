// Determinant(x): of the square matrices in the last two dimensions.
#include <cmath>
#include <utility>

#include "ops/ops.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferDeterminant(const Node& node) {
  const TensorType& x = node.inputs[0]->type;
  requireFloat(node, 0);
  if (x.rank() < 2) fail(ErrorKind::kInvalidModel, describe(node), " needs matrices and has ", x);
  requireEqual(node, x.shape.back(), "columns", x.shape[x.rank() - 2], "its rows are");
  return {{x.type, Shape(x.shape.begin(), x.shape.end() - 2)}};
}

// By elimination, with the largest element of each column as pivot. Overwrites the matrix.
double determinantOf(double* m, int64_t n) {
  double result = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    if (m[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (int64_t j = k; j < n; ++j) std::swap(m[k * n + j], m[pivot * n + j]);
      result = -result;
    }
    result *= m[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / m[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return result;
}

void evaluateDeterminant(const Evaluation& evaluation) {
  const int64_t n = evaluation.inputs[0].dims.back();
  std::vector<double> matrices = readReals(evaluation.inputs[0]);
  std::vector<double> results(evaluation.outputs[0].count());
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = determinantOf(matrices.data() + static_cast<int64_t>(i) * n * n, n);
  writeReals(evaluation.outputs[0], results);
}

}  // namespace

const OpInfo ops::Determinant = {
    "Determinant", 1, 1, 1, makeAttrsOf<NoAttrs>, inferDeterminant, evaluateDeterminant};

}  // namespace camshaft
