// The sequential core of every matrix product and convolution: one block of C by one worker.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm/epilogue.h"

namespace camshaft::cpu {

// C[0 .. rows)[0 .. columns) = epilogue(A B). `packedB` starts at the panel of the block's first
// column. The epilogue's pointers are those of the whole result; (row, column) says where in it
// this block lies. Rows of A may be cut into `segments` of equal length that lie apart, as a patch
// of an image does on its lines; such products are at most kMostSegmented deep.
struct GemmBlock {
  int64_t rows = 0, columns = 0, k = 0;
  const float* a = nullptr;
  int64_t lda = 0;
  int64_t segments = 1, segmentStride = 0;  // floats from one's begin to the next's
  const float* packedB = nullptr;
  float* c = nullptr;
  int64_t ldc = 0;
  int64_t row = 0, column = 0;
};

inline constexpr int64_t kMostSegmented = 256;

void gemmBlock(const GemmBlock& block, const Epilogue& epilogue);

// The epilogue alone, from finished products with `stride` floats between rows to the block of C at
// (row, column). `c` is the whole result.
void finishBlock(const float* products, int64_t stride, int64_t rows, int64_t columns, int64_t row,
                 int64_t column, float* c, int64_t ldc, const Epilogue& epilogue);

// The same to a result in bf16, over the products.
void finishBlock(float* products, int64_t stride, int64_t rows, int64_t columns, int64_t row,
                 int64_t column, BFloat16* c, int64_t ldc, const Epilogue& epilogue);

// The activation and what is behind it, but for post(), in place on sums that have their bias and
// residual: what the register tile has no room for. Nothing where the epilogue ends in a clamp,
// which it has.
void endBlock(const Epilogue& epilogue, float* values, int64_t rows, int64_t columns,
              int64_t stride);

}  // namespace camshaft::cpu
