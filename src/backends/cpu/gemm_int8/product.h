// Matrix products of 8-bit integers: packing, and the walk over blocks.
//
// B is made i8 and A what the layout wants by flipping the top bit of what is not, which moves its
// zero point along:
//
//   sum (a - za)(b - zb) = sum a b - za * sum b - zb * sum a + k * za * zb
//
// so all four combinations of signs are one product and sums over B's columns and A's rows.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm_int8/tile.h"
#include "support/function_ref.h"

namespace camshaft {
class ThreadPool;
}

namespace camshaft::cpu::gemm_int8 {

// Turns i8 into u8 and back: adds or takes 128.
inline constexpr uint8_t kFlip = 0x80;
// What makes bytes of A what the layout wants.
inline uint8_t rowFlip(const Layout& layout, bool isSigned) {
  return layout.rowsAreSigned == isSigned ? 0 : kFlip;
}
// The number that a flipped byte of A is.
inline int32_t rowValue(const Layout& layout, uint8_t flipped) {
  return layout.rowsAreSigned ? static_cast<int8_t>(flipped) : flipped;
}

// Columns, filled up to whole blocks.
inline int64_t paddedColumns(int64_t n) {
  return (n + kBlockColumns - 1) / kBlockColumns * kBlockColumns;
}
// Elements of what is per column: whole blocks, and one more, since those of a group of columns may
// begin anywhere.
inline int64_t columnElements(int64_t n) { return paddedColumns(n) + kBlockColumns; }
int64_t packedColumnsBytes(const Layout& layout, int64_t k, int64_t n);
// B is [k][n], or [n][k] when transposed, as blocks; `sums` are over k, paddedColumns(n) of them.
void packColumns(const Layout& layout, int64_t k, int64_t n, const uint8_t* b, bool transposed,
                 uint8_t flip, uint8_t* packed, int32_t* sums);
// The same of one block, whose first number is *b.
void packBlockPlainly(const Layout& layout, int64_t k, const uint8_t* b, int64_t rowStep,
                      int64_t columnStep, int64_t columns, uint8_t flip, uint8_t* block,
                      int32_t* sums);
// pack_block.cpp: the same of columns from `column` on, quickly; B is [k][n].
void packBlock(const Layout& layout, int64_t k, int64_t n, const uint8_t* b, int64_t column,
               uint8_t flip, uint8_t* block, int32_t* sums);

// pack_rows.cpp: `count` bytes of each of a strip's rows as its next whole steps, the last filled
// up with zeros. `flip` is 0 or kFlip. Returns where the strip goes on.
uint8_t* packRun(const Layout& layout, const uint8_t* const* rows, int64_t count, uint8_t flip,
                 uint8_t* strip);
// `count` rows of k bytes that follow each other as a strip.
void packRows(const Layout& layout, const uint8_t* a, int64_t count, int64_t k, uint8_t flip,
              uint8_t* strip);

// A finished block of sums, [rows][kBlockColumns], at (row, column) of the result of one part.
struct Sums {
  const int32_t* data = nullptr;
  const int32_t* ofRows = nullptr;  // of A, one for each row of the block; null unless asked for
  int64_t row = 0, column = 0, rows = 0, columns = 0;
  int64_t part = 0;
};

// So many products of one size, the parts: matrices of a batch, or groups of a convolution.
struct Product {
  const Layout* layout = nullptr;
  int64_t m = 0, n = 0, k = 0;
  const uint8_t* packedColumns = nullptr;  // of one part after the other
  bool sumsRows = false;
  int64_t parts = 1;
  // Where rows of A are whole quads already, of the layout's sign, and there is one part: what can
  // be read in place, two bytes being a half. Where it is packed nevertheless, it must be the same.
  Rows16 rows;
  // As many as tiles multiply of these, those of no result among them; 0: m.
  int64_t places = 0;
  std::span<const std::byte> upcoming;  // LaunchArgs::upcoming
};

// Writes rows [row, row + count) of a part as a strip; `scratch` has room for one more, as rows of
// whole steps, and for a few bytes that are written behind it.
inline constexpr int64_t kScratchSlack = 64;
using PackStrip =
    FunctionRef<void(int64_t part, int64_t row, int64_t count, uint8_t* strip, uint8_t* scratch)>;

// Whether a product of so many rows reads them where they lie, with parts of so many bytes each.
bool readsInPlace(const Layout& layout, int64_t m, int64_t partBytes);

// Bytes of workspace for so many threads, rows of a part and terms at most.
int64_t multiplyWorkspaceBytes(const Layout& layout, int64_t m, int64_t k, int threads);
// Calls pack() and finish() from several threads, finish() once for every row of a block.
void multiply(const Product& product, PackStrip pack, ThreadPool& pool, std::byte* workspace,
              FunctionRef<void(const Sums&)> finish);

}  // namespace camshaft::cpu::gemm_int8
