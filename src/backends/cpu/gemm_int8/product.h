// Matrix products of 8-bit integers: packing, and the walk over blocks.
//
// A is made u8 and B i8 by flipping the top bit of what is not, which moves its zero point along:
//
//   sum (a - za)(b - zb) = sum a b - za * sum b - zb * sum a + k * za * zb
//
// so all four combinations of signs are one product and sums over B's columns and A's rows.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm_int8/tile.h"
#include "support/function_ref.h"

namespace camshaft {
class ThreadPool;
}

namespace camshaft::cpu::gemm_int8 {

// Turns i8 into u8 and back: adds or takes 128.
inline constexpr uint8_t kFlip = 0x80;

int64_t packedRowsBytes(int64_t m, int64_t k);
int64_t packedColumnsBytes(int64_t k, int64_t n);
// Columns, filled up to whole blocks.
inline int64_t paddedColumns(int64_t n) {
  return (n + kBlockColumns - 1) / kBlockColumns * kBlockColumns;
}

// Writes one row of a strip from front to back. `flip` is 0 or kFlip.
class RowWriter {
 public:
  RowWriter(uint8_t* strip, int64_t row, uint8_t flip)
      : to_(strip + row * kStepDepth), flip_(flip) {}
  void copy(const uint8_t* from, int64_t count);
  void fill(uint8_t value, int64_t count);  // of A's own type, like what is copied
  void finish();                            // zeros up to a whole step

 private:
  uint8_t* next(int64_t& room);
  void advance(int64_t count) { used_ += count; }

  uint8_t* to_;
  const uint8_t flip_;
  int64_t used_ = 0;  // of this step
};

// Rows [m][k], lying one after the other, as strips. `sums`, one for each row of whole strips, are
// left alone when null.
void packRows(int64_t m, int64_t k, const uint8_t* a, uint8_t flip, uint8_t* packed, int32_t* sums,
              ThreadPool& pool);
// Sums of the rows of one strip.
void sumStrip(const uint8_t* strip, int64_t k, int32_t* sums);

// B is [k][n], or [n][k] when transposed, as blocks; `sums` are over k, paddedColumns(n) of them.
void packColumns(int64_t k, int64_t n, const uint8_t* b, bool transposed, uint8_t flip,
                 uint8_t* packed, int32_t* sums);

// A finished block of sums, [rows][kBlockColumns], at (row, column) of the result.
struct Sums {
  const int32_t* data = nullptr;
  int64_t row = 0, column = 0, rows = 0, columns = 0;
};

// Calls finish() for every block, from several threads.
void multiply(int64_t m, int64_t n, int64_t k, const uint8_t* packedRows,
              const uint8_t* packedColumns, ThreadPool& pool,
              FunctionRef<void(const Sums&)> finish);

}  // namespace camshaft::cpu::gemm_int8
