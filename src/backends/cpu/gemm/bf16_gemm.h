// Matrix products on the bf16 units of the CPU: operands are bf16, or f32 that are rounded to it (8
// bits of mantissa), products are added up in f32. For builds that allow 16 bits.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm/epilogue.h"
#include "support/function_ref.h"

namespace camshaft {
class ThreadPool;
}

namespace camshaft::cpu {

// Whether this CPU has the units.
bool hasBf16Gemm();
void requireBf16Gemm();  // for engines that use them: throws where they are missing

// B is [k][n] with `ldb` floats between rows, or [n][k] when transposed. Packed, its halves lie in
// the memory of floats.
int64_t bf16PackedBFloats(int64_t k, int64_t n);
void packBf16B(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed,
               uint16_t* packed);

// Writes rows [row, row + rows) of A, at most a panel of them, as a panel (bf16_tile.h).
using PackBf16Panel = FunctionRef<void(int64_t row, int64_t rows, uint16_t* panel)>;
// That of a matrix in memory, [..][k] with `lda` values between rows.
void packBf16Panel(const float* a, int64_t lda, int64_t k, int64_t rows, uint16_t* panel);
void packBf16Panel(const uint16_t* a, int64_t lda, int64_t k, int64_t rows, uint16_t* panel);

// A where its rows of k are bf16 already. Units that can do so read them in place; what they cannot
// read so is packed all the same.
struct Bf16Rows {
  const uint16_t* data = nullptr;
  int64_t stride = 0;  // halves between rows
  // k in parts as long as each other, at these halves from a row's beginning. Null: as it is.
  const int64_t* taps = nullptr;
  int64_t tapCount = 1;
  bool readsBeyond = false;  // the memory goes on for a panel of rows behind the last one
  // Rows are places of images; of each `lines` lines of `pitch` places the first `height` and
  // `width` are rows of C. 0: all are.
  int64_t width = 0, pitch = 0, height = 0, lines = 0;
};

// Where a result goes, rounded to bf16 where that is there.
struct Bf16Result {
  float* f32 = nullptr;
  int64_t stride = 0;  // elements between rows
  BFloat16* bf16 = nullptr;
};

// C[row .. row + rows)[column .. column + columns) = epilogue(A B) by one worker; `packedB` starts
// at the panel of `column`, which is the first of one, and `a` and `c` are the whole matrices.
struct Bf16Block {
  int64_t row = 0, column = 0, rows = 0, columns = 0, k = 0;
  int64_t packedK = 0;  // of B's panels, where they are deeper than k
  Bf16Rows a;
  const uint16_t* packedB = nullptr;
  Bf16Result c;
};
// Its workspace holds the rows as panels, best so many. The worker holds a TileScope (bf16_tile.h).
int64_t bf16BlockRows(int64_t k);
int64_t bf16RowsFloats(int64_t rows, int64_t k);
void multiplyBf16Block(const Bf16Block& block, PackBf16Panel pack, const Epilogue& epilogue,
                       float* workspace);

// All of C by all workers; `packedB` is all of B. What is enough for an m is enough for smaller
// ones.
int64_t bf16GemmWorkspaceFloats(int64_t m, int64_t k, int threads);
void bf16Gemm(int64_t m, int64_t n, int64_t k, PackBf16Panel pack, const uint16_t* packedB,
              const Bf16Result& c, const Epilogue& epilogue, ThreadPool& pool, float* workspace,
              Bf16Rows a = {});

}  // namespace camshaft::cpu
