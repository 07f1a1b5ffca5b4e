// Matrix products in 16 bits, for builds that allow them: operands are bf16, or f32 that are
// rounded to bf16 (8 bits of mantissa) or f16 (11). Products of bf16 are added up in f32, those of
// f16 a few at a time in f16 and these sums in f32 (tile16.h); no finite operands overflow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/gemm/epilogue.h"
#include "backends/cpu/gemm/tile16.h"
#include "backends/cpu/weights_ahead.h"
#include "support/function_ref.h"

namespace camshaft {
class ThreadPool;
}

namespace camshaft::cpu {

// Whether this CPU multiplies the type faster than f32.
bool hasGemm16(Type16 type);
void requireGemm16(Type16 type);  // for engines that use them: throws where they are missing

// B is [k][n] with `ldb` floats between rows, or [n][k] when transposed. Packed, its halves lie in
// the memory of floats.
int64_t packedB16Floats(Type16 type, int64_t k, int64_t n);
void packB16(Type16 type, int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed,
             uint16_t* packed);
// The same of bf16, on x86-64.
void packB16(int64_t k, int64_t n, const uint16_t* b, int64_t ldb, bool transposed,
             uint16_t* packed);

// The next `count` values of `rows` rows of A (tile16.h); uint16_t are bf16, for panels of those.
void packRows16(const float* const* from, int64_t rows, int64_t count, const Panel16& panel);
void packRows16(const uint16_t* const* from, int64_t rows, int64_t count, const Panel16& panel);
// Writes rows [row, row + rows) of A, at most a panel of them. Is asked again, with scales, where
// their numbers do not suit f16.
using PackPanel16 = FunctionRef<void(int64_t row, int64_t rows, const Panel16& panel)>;
// That of a matrix in memory, [..][k] with `lda` values between rows.
void packPanel16(const float* a, int64_t lda, int64_t k, int64_t rows, const Panel16& panel);
void packPanel16(const uint16_t* a, int64_t lda, int64_t k, int64_t rows, const Panel16& panel);

// A where its rows of k are bf16 already. Units that can do so read them in place; what they cannot
// read so is packed all the same.
struct Rows16 {
  const uint16_t* data = nullptr;
  int64_t stride = 0;  // halves between rows
  // k in parts as long as each other, at these halves from a row's beginning. Null: as it is.
  const int64_t* taps = nullptr;
  int64_t tapCount = 1;
  bool readsBeyond = false;  // the memory goes on for a panel of rows behind the last one
  // Rows are places of images; of each `lines` lines of `pitch` places the first `height` and
  // `width` are rows of C. 0: all are.
  int64_t width = 0, pitch = 0, height = 0, lines = 0;
  int64_t firstRow = 0;  // of C, where these are some of them
};

// Calls run(row, rows, rowOfC) for the rows of C among `count` of A from `first` on; `row` counts
// from there.
template <class Run>
void forRowsOfC(const Rows16& a, int64_t first, int64_t count, Run run) {
  if (a.pitch == 0) return run(0, count, a.firstRow + first);
  for (int64_t row = 0; row < count;) {  // a line at a time
    const int64_t place = (first + row) % a.pitch, line = (first + row) / a.pitch;
    const int64_t image = line / a.lines, lineOfImage = line % a.lines;
    const int64_t rows = std::min(count - row, a.width - place);
    if (rows > 0 && lineOfImage < a.height)
      run(row, rows, a.firstRow + (image * a.height + lineOfImage) * a.width + place);
    row += a.pitch - place;
  }
}

// Where a result goes, rounded to bf16 where that is there.
struct Result16 {
  float* f32 = nullptr;
  int64_t stride = 0;  // elements between rows
  BFloat16* bf16 = nullptr;
};

// C[row .. row + rows)[column .. column + columns) = epilogue(A B) by one worker; `packedB` starts
// at the panel of `column`, which is the first of one, and `a` and `c` are the whole matrices.
struct Block16 {
  Type16 type = Type16::kBf16;
  int64_t row = 0, column = 0, rows = 0, columns = 0, k = 0;
  int64_t packedK = 0;  // of B's panels, where they are deeper than k
  Rows16 a;
  const uint16_t* packedB = nullptr;
  Result16 c;
  WeightsAhead ahead;  // behind packedB
};
// Its workspace holds the rows as panels, best so many. The worker holds a TileScope (tile16.h).
int64_t blockRows16(int64_t k);
int64_t rows16Floats(Type16 type, int64_t rows, int64_t k);
void multiplyBlock16(const Block16& block, PackPanel16 pack, const Epilogue& epilogue,
                     float* workspace);

// All of C by all workers; `packedB` is all of B, and `upcoming` what is read after it
// (LaunchArgs). What is enough for an m is enough for smaller ones.
int64_t gemm16WorkspaceFloats(Type16 type, int64_t m, int64_t k, int threads);
void gemm16(Type16 type, int64_t m, int64_t n, int64_t k, PackPanel16 pack, const uint16_t* packedB,
            const Result16& c, const Epilogue& epilogue, ThreadPool& pool, float* workspace,
            Rows16 a = {}, std::span<const std::byte> upcoming = {});

}  // namespace camshaft::cpu
