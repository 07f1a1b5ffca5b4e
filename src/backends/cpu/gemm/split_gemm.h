// Matrix products on the bf16 units of the CPU (x86 AMX) that stay close to f32.
//
// Each f32 value is split into two bf16 values, x = high + low, and a product is the three terms
// high high + high low + low high, added up in f32. The relative error is about 5e-6, some fifty
// times that of an f32 product and a hundredth of TF32's; finite operands above 3.38e38 and
// infinite ones give NaN or infinity. So this is for builders that allow TF32.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm/epilogue.h"

namespace camshaft {
class ThreadPool;
}

namespace camshaft::cpu {

// Whether this CPU has the units and the system lets this process use them.
bool hasSplitGemm();

// B is [k][n] with `ldb` floats between rows, or [n][k] when transposed. Packed weights hold bf16
// pairs in the memory of floats; one layout serves every CPU that hasSplitGemm().
int64_t splitPackedBFloats(int64_t k, int64_t n);
void splitPackB(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed, float* packed);

// As packedGemm(). The workspace holds A split, and is enough for any smaller m.
int64_t splitGemmWorkspaceFloats(int64_t m, int64_t k);
void splitGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packedB,
               float* c, int64_t ldc, const Epilogue& epilogue, ThreadPool& pool, float* workspace);

}  // namespace camshaft::cpu
