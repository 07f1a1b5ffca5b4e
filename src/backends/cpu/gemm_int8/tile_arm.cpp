// Arm's products of two rows and two columns of eight bytes (usmmla). Compiled for CPUs that have
// them and run only on those: nothing here may be inline code of others, whose copy the linker
// could keep for everybody.
#include "backends/cpu/gemm_int8/tile.h"

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include <arm_neon.h>

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr int64_t kPanel = 8;  // rows of a strip, columns of a panel, and their depth
constexpr int64_t kStepBytes = kPanel * kPanel;
// Steps at a time and columns side by side: a strip of A and two panels of B stay in L1.
constexpr int64_t kPassSteps = 256, kGroupColumns = 2 * kPanel;

// kRows of a strip by eight columns, over so many steps.
template <int kRows>
void multiplyTile(const uint8_t* a, const int8_t* b, int64_t steps, bool accumulate,
                  int32_t* sums) {
  constexpr int kPairsOfRows = kRows / 2, kPairsOfColumns = kPanel / 2;
  int32x4_t sum[kPairsOfRows][kPairsOfColumns];
#pragma GCC unroll 4
  for (int i = 0; i < kPairsOfRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kPairsOfColumns; ++j) sum[i][j] = vdupq_n_s32(0);
#pragma GCC unroll 1
  for (; steps > 0; --steps, a += kStepBytes, b += kStepBytes) {
    uint8x16_t rows[kPairsOfRows];
#pragma GCC unroll 4
    for (int i = 0; i < kPairsOfRows; ++i) rows[i] = vld1q_u8(a + i * 16);
#pragma GCC unroll 4
    for (int j = 0; j < kPairsOfColumns; ++j) {
      const int8x16_t columns = vld1q_s8(b + j * 16);
#pragma GCC unroll 4
      for (int i = 0; i < kPairsOfRows; ++i) sum[i][j] = vusmmlaq_s32(sum[i][j], rows[i], columns);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPairsOfRows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kPairsOfColumns; j += 2) {
      const int64x2_t left = vreinterpretq_s64_s32(sum[i][j]);
      const int64x2_t right = vreinterpretq_s64_s32(sum[i][j + 1]);
      int32x4_t above = vreinterpretq_s32_s64(vzip1q_s64(left, right));
      int32x4_t below = vreinterpretq_s32_s64(vzip2q_s64(left, right));
      int32_t* to = sums + 2 * i * kBlockColumns + 2 * j;
      if (accumulate) {
        above = vaddq_s32(above, vld1q_s32(to));
        below = vaddq_s32(below, vld1q_s32(to + kBlockColumns));
      }
      vst1q_s32(to, above);
      vst1q_s32(to + kBlockColumns, below);
    }
}

void multiplyPanel(const uint8_t* a, const int8_t* b, int64_t steps, bool accumulate, int64_t rows,
                   int32_t* sums) {
  if (rows > 6) return multiplyTile<8>(a, b, steps, accumulate, sums);
  if (rows > 4) return multiplyTile<6>(a, b, steps, accumulate, sums);
  if (rows > 2) return multiplyTile<4>(a, b, steps, accumulate, sums);
  multiplyTile<2>(a, b, steps, accumulate, sums);
}

}  // namespace

void multiplyWithI8mm(const Block& block) {
  const int64_t steps = (block.k + kPanel - 1) / kPanel, panelBytes = steps * kStepBytes;
  const int64_t passes = steps > kPassSteps ? (steps + kPassSteps - 1) / kPassSteps : 1;
  for (int64_t group = 0; group < block.columns; group += kGroupColumns) {
    const int64_t groupEnd =
        group + kGroupColumns < block.columns ? group + kGroupColumns : block.columns;
    int64_t done = 0;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t depth = (steps - done + passes - pass - 1) / (passes - pass);
      for (int64_t row = 0; row < block.rows; row += kPanel)
        for (int64_t column = group; column < groupEnd; column += kPanel)
          multiplyPanel(block.a + row / kPanel * panelBytes + done * kStepBytes,
                        block.b + column / kPanel * panelBytes + done * kStepBytes, depth, pass > 0,
                        block.rows - row, block.sums + row * kBlockColumns + column);
      done += depth;
    }
  }
}

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

void multiplyWithI8mm(const Block&) {}  // never called where hasI8mm() is false

}  // namespace camshaft::cpu::gemm_int8

#endif
