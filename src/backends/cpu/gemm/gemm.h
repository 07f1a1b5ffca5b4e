// f32 matrix products C = epilogue(A B), row-major.
//
// B is packed in panels of `nr` columns, [ceil(n/nr)][k][nr], zero-padded: weights once at build
// time, activations into workspace at each call. A is read as it lies.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/cpu/gemm/epilogue.h"

namespace camshaft {
class ThreadPool;
}

namespace camshaft::cpu {

// The register tile. Packed weights are only valid under the geometry they were packed for, so an
// engine stores `isa` beside them.
struct GemmGeometry {
  int64_t mr = 0;
  int64_t nr = 0;
  std::string_view isa;
};
GemmGeometry gemmGeometry();

// B is [k][n] with `ldb` floats between rows, or [n][k] when transposed.
int64_t packedBFloats(int64_t k, int64_t n);
void packB(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed, float* packed);

// A is [m][k], C is [m][n]; lda and ldc are floats between rows. k may be 0.
void packedGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packedB,
                float* c, int64_t ldc, const Epilogue& epilogue, ThreadPool& pool);

// One matrix per batch index (i, j), at data + i * batchStrides[0] + j * batchStrides[1]. A batch
// stride of 0 broadcasts.
template <class T>
struct BatchedMatrix {
  T* data = nullptr;
  int64_t stride = 0;  // floats between rows
  int64_t batchStrides[2] = {0, 0};
  bool transposed = false;  // stored as [k][m] or [n][k]; not for the result
};

// Products of two activations. The epilogue's bias is shared by all matrices; its residual takes
// the result's batch strides.
struct BatchedGemm {
  int64_t m = 0, n = 0, k = 0;
  int64_t batches[2] = {1, 1};
  BatchedMatrix<const float> a, b;
  BatchedMatrix<float> c;
};
int64_t batchedGemmWorkspaceFloats(const BatchedGemm& problem, int threads);
void batchedGemm(const BatchedGemm& problem, const Epilogue& epilogue, ThreadPool& pool,
                 float* workspace);

}  // namespace camshaft::cpu
