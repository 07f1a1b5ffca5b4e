#include "backends/cpu/gemm/gemm.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/move/transpose_block.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

// to[j][i] = from[i][j] for rows x columns values of `from`; strides are floats between rows.
void transposeFloats(const float* from, int64_t fromStride, int64_t rows, int64_t columns,
                     float* to, int64_t toStride) {
  move::transposeBlock(reinterpret_cast<const std::byte*>(from), fromStride,
                       reinterpret_cast<std::byte*>(to), toStride, rows, columns, sizeof(float));
}

void packPanel(int64_t k, int64_t width, const float* b, int64_t ldb, bool transposed, int64_t nr,
               float* panel) {
  if (transposed) {
    if (width < nr) std::fill(panel, panel + k * nr, 0.0f);
    transposeFloats(b, ldb, width, k, panel, nr);
    return;
  }
  for (int64_t i = 0; i < k; ++i) {
    std::copy(b + i * ldb, b + i * ldb + width, panel + i * nr);
    std::fill(panel + i * nr + width, panel + (i + 1) * nr, 0.0f);
  }
}

void packPanels(int64_t begin, int64_t end, int64_t k, int64_t n, const float* b, int64_t ldb,
                bool transposed, float* packed) {
  const int64_t nr = gemmGeometry().nr;
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t column = panel * nr;
    packPanel(k, std::min(nr, n - column), b + (transposed ? column * ldb : column), ldb,
              transposed, nr, packed + column * k);
  }
}

// The matrices of one batch index.
struct Matrices {
  const float* a;
  const float* b;
  float* c;
  Epilogue epilogue;
};

Matrices matricesAt(const BatchedGemm& p, const Epilogue& epilogue, int64_t batch) {
  const int64_t i = batch / p.batches[1], j = batch % p.batches[1];
  const int64_t cOffset = i * p.c.batchStrides[0] + j * p.c.batchStrides[1];
  Matrices at = {p.a.data + i * p.a.batchStrides[0] + j * p.a.batchStrides[1],
                 p.b.data + i * p.b.batchStrides[0] + j * p.b.batchStrides[1], p.c.data + cOffset,
                 epilogue};
  if (at.epilogue.residual) at.epilogue.residual += cOffset;
  return at;
}

bool sharesB(const BatchedGemm& p) {
  return (p.batches[0] == 1 || p.b.batchStrides[0] == 0) &&
         (p.batches[1] == 1 || p.b.batchStrides[1] == 0);
}

int64_t transposedAFloats(const BatchedGemm& p) { return p.a.transposed ? p.m * p.k : 0; }

int64_t floatsPerWorker(const BatchedGemm& p) {
  return (packedBFloats(p.k, p.n) + transposedAFloats(p) + 15) / 16 * 16;
}

// Makes A row-major in `scratch` when it is not.
const float* rowMajorA(const BatchedGemm& p, const float* a, float* scratch) {
  if (!p.a.transposed) return a;
  transposeFloats(a, p.a.stride, p.k, p.m, scratch, p.k);
  return scratch;
}

int64_t ldaOf(const BatchedGemm& p) { return p.a.transposed ? p.k : p.a.stride; }

void runOneBatchPerWorker(const BatchedGemm& p, const Epilogue& epilogue, ThreadPool& pool,
                          float* workspace) {
  pool.parallelFor(p.batches[0] * p.batches[1], 1, [&](int64_t begin, int64_t end, int worker) {
    float* packedB = workspace + worker * floatsPerWorker(p);
    float* scratch = packedB + packedBFloats(p.k, p.n);
    for (int64_t batch = begin; batch < end; ++batch) {
      const Matrices at = matricesAt(p, epilogue, batch);
      packB(p.k, p.n, at.b, p.b.stride, p.b.transposed, packedB);
      gemmBlock({.rows = p.m,
                 .columns = p.n,
                 .k = p.k,
                 .a = rowMajorA(p, at.a, scratch),
                 .lda = ldaOf(p),
                 .packedB = packedB,
                 .c = at.c,
                 .ldc = p.c.stride},
                at.epilogue);
    }
  });
}

void runAllWorkersPerBatch(const BatchedGemm& p, const Epilogue& epilogue, ThreadPool& pool,
                           float* workspace) {
  float* packedB = workspace;
  float* scratch = packedB + packedBFloats(p.k, p.n);
  for (int64_t batch = 0; batch < p.batches[0] * p.batches[1]; ++batch) {
    const Matrices at = matricesAt(p, epilogue, batch);
    if (batch == 0 || !sharesB(p)) {
      pool.parallelFor(ceilDiv(p.n, gemmGeometry().nr), 1, [&](int64_t begin, int64_t end, int) {
        packPanels(begin, end, p.k, p.n, at.b, p.b.stride, p.b.transposed, packedB);
      });
    }
    packedGemm(p.m, p.n, p.k, rowMajorA(p, at.a, scratch), ldaOf(p), packedB, at.c, p.c.stride,
               at.epilogue, pool);
  }
}

}  // namespace

int64_t packedBFloats(int64_t k, int64_t n) {
  const int64_t nr = gemmGeometry().nr;
  return ceilDiv(n, nr) * nr * k;
}

void packB(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed, float* packed) {
  packPanels(0, ceilDiv(n, gemmGeometry().nr), k, n, b, ldb, transposed, packed);
}

void packedGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packedB,
                float* c, int64_t ldc, const Epilogue& epilogue, ThreadPool& pool) {
  if (m == 0 || n == 0) return;
  const Partition grid = partitionGemm(m, n, k, pool.threads());
  auto runTasks = [&](int64_t begin, int64_t end, int) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task % grid.rowTasks * grid.rows;
      const int64_t column = task / grid.rowTasks * grid.columns;
      gemmBlock({.rows = std::min(grid.rows, m - row),
                 .columns = std::min(grid.columns, n - column),
                 .k = k,
                 .a = a + row * lda,
                 .lda = lda,
                 .packedB = packedB + column * k,
                 .c = c + row * ldc + column,
                 .ldc = ldc,
                 .row = row,
                 .column = column},
                epilogue);
    }
  };
  pool.parallelFor(grid.tasks(), 1, runTasks);
}

int64_t batchedGemmWorkspaceFloats(const BatchedGemm& problem, int threads) {
  return floatsPerWorker(problem) * threads;
}

void batchedGemm(const BatchedGemm& problem, const Epilogue& epilogue, ThreadPool& pool,
                 float* workspace) {
  if (problem.m == 0 || problem.n == 0) return;
  const int64_t batches = problem.batches[0] * problem.batches[1];
  if (batches >= pool.threads() && !sharesB(problem)) {
    runOneBatchPerWorker(problem, epilogue, pool, workspace);
  } else {
    runAllWorkersPerBatch(problem, epilogue, pool, workspace);
  }
}

}  // namespace camshaft::cpu
