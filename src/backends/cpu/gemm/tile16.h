// The register tiles of gemm16.h, and panels of operands as they read them.
//
// A panel is kRows16 rows of A, or kColumns16 columns of B, rounded to 16 bits, in steps of
// kDepth16 along k, the last filled up with zeros:
//
//   Arm, bf16   A [8 rows][4 of k], B [8 columns][4 of k]
//   Arm, f16    A [8 rows][4 of k], B [4 of k][8 columns]
//   x86-64      A [32 rows][32 of k], B [left, right 16 columns][16 pairs of k][16 columns][2 of k]
//
// Arm's bfmmla multiplies two rows of four by two columns of four, and its f16 vectors a row of B
// by one number of A. On x86-64 each half of a step is a tile of AMX; AVX512-BF16 reads the same
// panels, pairs of A against vectors of pairs of B.
//
// f16 ends at 65504, and sums of f16 are f16 at first (tile_f16_arm.cpp). So rows and columns are
// multiplied by powers of two that keep what is added up in between within its range, and behind
// the steps of a panel lies for each of them, in f32, what undoes that.
#pragma once

#include <cstdint>

namespace camshaft::cpu {

enum class Type16 : int8_t { kBf16, kF16 };  // what operands are rounded to

// Rows of A that are bf16 already can be read where they lie, so many at a time (0: never), in
// whole steps, best at whole cache lines.
#if defined(__x86_64__)
inline constexpr int64_t kRows16 = 32, kColumns16 = 32, kDepth16 = 32, kRowsInPlace16 = 16;
#else
inline constexpr int64_t kRows16 = 8, kColumns16 = 8, kDepth16 = 4, kRowsInPlace16 = 0;
#endif
inline constexpr int64_t kStepHalves16 = kRows16 * kDepth16;
static_assert(kRows16 == kColumns16, "a step of A and one of B are as large");

inline int64_t steps16(int64_t k) { return (k + kDepth16 - 1) / kDepth16; }
inline int64_t panelHalves16(Type16 type, int64_t k) {
  const int64_t factorHalves = type == Type16::kF16 ? 2 * kRows16 : 0;
  return steps16(k) * kStepHalves16 + factorHalves;
}

// So many products of numbers below these are added up in f16, and stay below half of where it
// ends. Rows of A are scaled where they are not, or would leave f16's precision unused; columns of
// B always, so that their largest number is at least half of theirs.
inline constexpr int64_t kF16Chunk = 128;
inline constexpr float kMostOfF16Rows = 4096, kMostOfF16Columns = 8.0f / kF16Chunk;
inline constexpr float kLeastOfF16Rows = 0x1p-10f;

// Where rows of A become a panel, from one of its rows and steps on.
struct Panel16 {
  Type16 type = Type16::kBf16;
  uint16_t* steps = nullptr;
  // Of f16, by row: what it is multiplied by (null: nothing), and its largest magnitude so far, as
  // the bits of an f16.
  const float* scales = nullptr;
  uint16_t* largest = nullptr;

  Panel16 from(int64_t row) const {
    return {type, steps + row * kDepth16, scales ? scales + row : nullptr,
            largest ? largest + row : nullptr};
  }
};

// `count` values from each of `rows` rows as the next steps of a panel of A, from an even one of
// its rows on. The others stay; an odd last one may be written twice.
void packBf16Rows(const float* const* from, int64_t rows, int64_t count, uint16_t* panel);
void packBf16Rows(const uint16_t* const* from, int64_t rows, int64_t count, uint16_t* panel);
void packF16Rows(const float* const* from, int64_t rows, int64_t count, const Panel16& panel);
#if defined(__x86_64__)
// The same of rows `stride` values apart, sooner.
void packBf16Matrix(const float* a, int64_t stride, int64_t rows, int64_t count, uint16_t* panel);
void packBf16Matrix(const uint16_t* a, int64_t stride, int64_t rows, int64_t count,
                    uint16_t* panel);
// `count` values in a row, filled up with zeros to whole steps.
void copyBf16(const float* from, int64_t count, uint16_t* to);
void copyBf16(const uint16_t* from, int64_t count, uint16_t* to);
// So many rows of them, `stride` values apart, side by side.
void copyBf16Rows(const float* from, int64_t stride, int64_t rows, int64_t count, uint16_t* to);
void copyBf16Rows(const uint16_t* from, int64_t stride, int64_t rows, int64_t count, uint16_t* to);
#endif
// A whole panel of `columns` columns of B, [k][...] with `ldb` floats between rows, or [...][k]
// when transposed.
void packBf16Columns(const float* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                     uint16_t* panel);
#if defined(__x86_64__)
void packBf16Columns(const uint16_t* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                     uint16_t* panel);
#endif
void packF16Columns(const float* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                    uint16_t* panel);

// products[kRows16][kColumns16] (+)= A B over so many steps of each tap. Rows and columns that
// are not there may be read, and written with anything.
struct Tile16 {
  const uint16_t* a = nullptr;
  // Halves between the rows and between the steps of A: those of a panel, or of a matrix in memory.
  int64_t aRow = kDepth16, aStep = kStepHalves16;
  // Where in A the next steps of B find theirs, in halves; null: one tap, at the beginning.
  const int64_t* taps = nullptr;
  int64_t tapCount = 1;
  const uint16_t* b = nullptr;
  const float *rowFactors = nullptr, *columnFactors = nullptr;  // of f16
  int64_t steps = 0;
  int64_t rows = kRows16, columns = kColumns16;  // or more
  bool accumulate = false;
  float* products = nullptr;
  int64_t stride = 0;  // floats between the products' rows
  // Meanwhile x86-64 brings, at each step, the next so many cache lines of each of so many runs to
  // L2, which begin here and lie so many bytes apart: a core reads several runs of memory faster
  // than one.
  const char* ahead = nullptr;
  int64_t aheadLines = 0, aheadRuns = 0, aheadStride = 0;
};
// By a thread that holds a TileScope(bf16UsesTiles()).
void multiplyBf16(const Tile16& tile);
void multiplyF16(const Tile16& tile);

#if defined(__x86_64__)
// Whether multiplyBf16() runs on AMX's tiles rather than on AVX512-BF16; for tests, that it may.
bool bf16UsesTiles();
void allowBf16Tiles(bool allowed);
#else
inline bool bf16UsesTiles() { return false; }
inline void allowBf16Tiles(bool) {}
#endif

}  // namespace camshaft::cpu
