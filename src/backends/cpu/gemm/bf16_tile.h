// The register tile of bf16_gemm.h, and panels of operands as it reads them.
//
// A panel is eight rows of A, or eight columns of B, rounded to bf16 and filled up with zeros:
// [k / 4][8][4 of k]. Both operands lie alike, because the units multiply two rows of four by two
// columns of four (Arm's bfmmla).
#pragma once

#include <cstdint>

namespace camshaft::cpu {

inline constexpr int64_t kBf16Rows = 8, kBf16Columns = 8, kBf16Depth = 4;

inline int64_t bf16Steps(int64_t k) { return (k + kBf16Depth - 1) / kBf16Depth; }
inline int64_t bf16PanelHalves(int64_t k) { return bf16Steps(k) * kBf16Depth * kBf16Rows; }

// `count` values from each of eight rows as the next steps of a panel, its last filled up.
void packBf16Rows(const float* const* rows, int64_t count, uint16_t* panel);
// A whole panel of `columns` <= 8 columns of B, [k][...] with `ldb` floats between rows.
void packBf16Columns(const float* b, int64_t ldb, int64_t k, int64_t columns, uint16_t* panel);

// products[8][8] (+)= A B over so many steps; rows beyond `rows` may be anything.
struct Bf16Tile {
  const uint16_t* a = nullptr;
  const uint16_t* b = nullptr;
  int64_t steps = 0;
  int64_t rows = kBf16Rows;
  bool accumulate = false;
  float* products = nullptr;
  int64_t stride = 0;  // floats between the products' rows
};
void multiplyBf16(const Bf16Tile& tile);

}  // namespace camshaft::cpu
