// The register tile of bf16_gemm.h, and panels of operands as it reads them.
//
// A panel is kBf16Rows rows of A, or kBf16Columns columns of B, rounded to bf16, in steps of
// kBf16Depth along k, the last filled up with zeros:
//
//   Arm      A [8 rows][4 of k], B [8 columns][4 of k]
//   x86-64   A [32 rows][32 of k], B [left, right 16 columns][16 pairs of k][16 columns][2 of k]
//
// Arm's bfmmla multiplies two rows of four by two columns of four. On x86-64 each half of a step is
// a tile of AMX; AVX512-BF16 reads the same panels, pairs of A against vectors of pairs of B.
#pragma once

#include <cstdint>

namespace camshaft::cpu {

// Rows of A that are bf16 already can be read where they lie, so many at a time (0: never), in
// whole steps, best at whole cache lines.
#if defined(__x86_64__)
inline constexpr int64_t kBf16Rows = 32, kBf16Columns = 32, kBf16Depth = 32, kBf16RowsInPlace = 16;
#else
inline constexpr int64_t kBf16Rows = 8, kBf16Columns = 8, kBf16Depth = 4, kBf16RowsInPlace = 0;
#endif
inline constexpr int64_t kBf16StepHalves = kBf16Rows * kBf16Depth;
static_assert(kBf16Rows == kBf16Columns, "a step of A and one of B are as large");

inline int64_t bf16Steps(int64_t k) { return (k + kBf16Depth - 1) / kBf16Depth; }
inline int64_t bf16PanelHalves(int64_t k) { return bf16Steps(k) * kBf16StepHalves; }

// `count` values from each of `rows` rows as the next steps of a panel of A, from its row
// `panel` / kBf16Depth on, an even one. The others of its rows stay; an odd last one may be written
// twice.
void packBf16Rows(const float* const* from, int64_t rows, int64_t count, uint16_t* panel);
void packBf16Rows(const uint16_t* const* from, int64_t rows, int64_t count, uint16_t* panel);
#if defined(__x86_64__)
// `count` values in a row, filled up with zeros to whole steps.
void copyBf16(const float* from, int64_t count, uint16_t* to);
void copyBf16(const uint16_t* from, int64_t count, uint16_t* to);
#endif
// A whole panel of `columns` columns of B, [k][...] with `ldb` floats between rows, or [...][k]
// when transposed.
void packBf16Columns(const float* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                     uint16_t* panel);

// products[kBf16Rows][kBf16Columns] (+)= A B over so many steps of each tap. Rows and columns that
// are not there may be read, and written with anything.
struct Bf16Tile {
  const uint16_t* a = nullptr;
  // Halves between the rows and between the steps of A: those of a panel, or of a matrix in memory.
  int64_t aRow = kBf16Depth, aStep = kBf16StepHalves;
  // Where in A the next steps of B find theirs, in halves; null: one tap, at the beginning.
  const int64_t* taps = nullptr;
  int64_t tapCount = 1;
  const uint16_t* b = nullptr;
  int64_t steps = 0;
  int64_t rows = kBf16Rows, columns = kBf16Columns;  // or more
  bool accumulate = false;
  float* products = nullptr;
  int64_t stride = 0;  // floats between the products' rows
  // Meanwhile x86-64 brings so many bytes per step from here on to L2.
  const uint16_t* ahead = nullptr;
  int64_t aheadBytes = 0;
};
// By a thread that holds a TileScope(bf16UsesTiles()).
void multiplyBf16(const Bf16Tile& tile);

#if defined(__x86_64__)
// Whether multiplyBf16() runs on AMX's tiles rather than on AVX512-BF16; for tests, that it may.
bool bf16UsesTiles();
void allowBf16Tiles(bool allowed);
#else
inline bool bf16UsesTiles() { return false; }
inline void allowBf16Tiles(bool) {}
#endif

}  // namespace camshaft::cpu
