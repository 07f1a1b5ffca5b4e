#include "backends/cpu/pointwise/byte_table.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace camshaft::cpu::pointwise {

namespace {

#if defined(__aarch64__)

// In quarters, whose indices are beyond the range of the others.
class Table {
 public:
  explicit Table(const uint8_t* table)
      : first_(vld1q_u8_x4(table)),
        second_(vld1q_u8_x4(table + 64)),
        third_(vld1q_u8_x4(table + 128)),
        fourth_(vld1q_u8_x4(table + 192)) {}

  // Whole vectors; returns how many bytes these were.
  int64_t lookUp(const uint8_t* from, int64_t count, uint8_t* to) const {
    const uint8x16_t quarter = vdupq_n_u8(64);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
      uint8x16_t index = vld1q_u8(from + i);
      uint8x16_t found = vqtbl4q_u8(first_, index);
      index = vsubq_u8(index, quarter);
      found = vqtbx4q_u8(found, second_, index);
      index = vsubq_u8(index, quarter);
      found = vqtbx4q_u8(found, third_, index);
      index = vsubq_u8(index, quarter);
      vst1q_u8(to + i, vqtbx4q_u8(found, fourth_, index));
    }
    return i;
  }

 private:
  const uint8x16x4_t first_, second_, third_, fourth_;
};

#else

class Table {
 public:
  explicit Table(const uint8_t*) {}
  int64_t lookUp(const uint8_t*, int64_t, uint8_t*) const { return 0; }
};

#endif

}  // namespace

void lookUp(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t rows, int64_t columns,
            int64_t stride) {
  const Table vectors(table);
  for (int64_t row = 0; row < rows; ++row, from += stride, to += stride)
    for (int64_t i = vectors.lookUp(from, columns, to); i < columns; ++i) to[i] = table[from[i]];
}

}  // namespace camshaft::cpu::pointwise
