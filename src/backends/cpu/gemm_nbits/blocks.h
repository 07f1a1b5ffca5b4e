// Products of f32 rows with weights of 2, 4 or 8 bits that have a scale, and perhaps a zero point,
// for each block of k. The weights are unpacked in registers, so what is read from memory are their
// few bits.
//
// Weights lie in panels of 16 columns, [n / 16][words of k][16 columns], words of 32 bits with as
// many numbers of k as there is room for, the first in the lowest bits, less the middle of their
// range and in two's complement. Scales, and zero points times scales,
// are [n / 16][blocks][16 columns]. Vectors of any length read them, so packed weights are the same
// for every CPU.
#pragma once

#include <cstdint>
#include <vector>

namespace camshaft::cpu::gemm_nbits {

inline constexpr int64_t kPanelColumns = 16;
inline constexpr int64_t kMaxRows = 8;

inline int64_t panelsOf(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns; }

struct BlockWeights {
  int64_t bits = 4;
  int64_t n = 0, blocks = 0, blockSize = 0;  // blockSize: a multiple of wordNumbers()
  const uint32_t* words = nullptr;
  const float* scales = nullptr;
  const float* zeros = nullptr;  // null: all zero points are the middle of the range

  int64_t wordNumbers() const { return 32 / bits; }
  int64_t depth() const { return blocks * blockSize; }
  int64_t wordCount() const { return panelsOf(n) * kPanelColumns * depth() / wordNumbers(); }
  int64_t scaleCount() const { return panelsOf(n) * kPanelColumns * blocks; }
};

// Rows of a side by side, [depth()][count] with zeros beyond k, and the sums of their blocks.
struct Rows {
  const float* data = nullptr;
  const float* sums = nullptr;  // [blocks][count]; not read without zeros
  int64_t count = 0;            // 1 .. kMaxRows
};

// to[row][kPanelColumns] = rows · panel
void multiplyPanel(const BlockWeights& weights, int64_t panel, const Rows& rows, float* to);

}  // namespace camshaft::cpu::gemm_nbits
