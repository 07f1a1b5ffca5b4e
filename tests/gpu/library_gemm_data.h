// Operands of a matrix product, and what comes out in double precision.
#pragma once

#include "library_harness.h"

namespace camshaft::cuda::library_check {

inline double activate(GemmActivation activation, double x) {
  if (activation == GemmActivation::kRelu) return std::max(x, 0.0);
  if (activation == GemmActivation::kNone) return x;
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

struct GemmData {
  GemmProblem problem;
  GemmSizes sizes;
  Tensor a, b, bias, c, d;

  GemmData(const GemmProblem& p, const GemmSizes& s, Random& random)
      : problem(p),
        sizes(s),
        a(random.tensor(p.typeA, {extent(p.transposeA ? s.k : s.m, p.transposeA ? s.m : s.k, s.lda,
                                         s.strideA)})),
        b(random.tensor(p.typeB, {extent(p.transposeB ? s.n : s.k, p.transposeB ? s.k : s.n, s.ldb,
                                         s.strideB)})),
        bias(random.tensor(p.typeD, {s.n})),
        c(random.tensor(p.typeD, {extent(s.m, s.n, s.ldc, s.strideC)})),
        d(zeros(p.typeD, {extent(s.m, s.n, s.ldd, s.strideD)})) {}

  std::vector<TensorArg> inputs() const {
    std::vector<TensorArg> list = {a.arg(), b.arg()};
    if (problem.hasBias) list.push_back(bias.arg());
    if (problem.beta != 0) list.push_back(c.arg());
    return list;
  }

  std::vector<double> expected() const {
    const GemmSizes& s = sizes;
    std::vector<double> result(d.values.size(), 0);
    for (int64_t batch = 0; batch < s.batch; ++batch)
      for (int64_t i = 0; i < s.m; ++i)
        for (int64_t j = 0; j < s.n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < s.k; ++k)
            sum +=
                a.values[batch * s.strideA + (problem.transposeA ? k * s.lda + i : i * s.lda + k)] *
                b.values[batch * s.strideB + (problem.transposeB ? j * s.ldb + k : k * s.ldb + j)];
          sum *= problem.alpha;
          if (problem.beta != 0) sum += problem.beta * c.values[batch * s.strideC + i * s.ldc + j];
          if (problem.hasBias) sum += bias.values[j];
          result[batch * s.strideD + i * s.ldd + j] = activate(problem.activation, sum);
        }
    return result;
  }

 private:
  int64_t extent(int64_t rows, int64_t columns, int64_t rowStride, int64_t batchStride) const {
    return (sizes.batch - 1) * batchStride + (rows - 1) * rowStride + columns;
  }
};

}  // namespace camshaft::cuda::library_check
