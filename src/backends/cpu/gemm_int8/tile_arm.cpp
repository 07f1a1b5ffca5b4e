// Arm's products of two rows and two columns of eight bytes (usmmla). Compiled for CPUs that have
// them and run only on those: nothing here may be inline code of others, whose copy the linker
// could keep for everybody.
#include "backends/cpu/gemm_int8/tile.h"

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include <arm_neon.h>

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr int64_t kTileBytes = kStripRows * kStepDepth;
constexpr int64_t kColumns = 8;  // at a time: half of a quad's line of 16

// Eight of k from two rows.
uint8x16_t loadPair(const uint8_t* rows) {
  return vcombine_u8(vld1_u8(rows), vld1_u8(rows + kStepDepth));
}

int32x4_t loadQuads(const int8_t* from) { return vreinterpretq_s32_s8(vld1q_s8(from)); }

// kRows of a strip by eight columns.
template <int kRows>
void multiplyRows(const uint8_t* a, const int8_t* b, int64_t k, int32_t* sums) {
  constexpr int kPairs = kRows / 2;
  int32x4_t sum[kPairs][4];
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sum[i][j] = vdupq_n_s32(0);
  for (int64_t done = 0; done < k; done += kStepDepth, a += kTileBytes, b += 2 * kTileBytes) {
    const int64_t left = k - done < kStepDepth ? k - done : kStepDepth;
#pragma GCC unroll 1
    for (int64_t at = 0; at < left; at += 8) {
      uint8x16_t pair[kPairs];
#pragma GCC unroll 4
      for (int i = 0; i < kPairs; ++i) pair[i] = loadPair(a + 2 * i * kStepDepth + at);
      const int8_t* quads = b + at / 4 * 64;
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        const int32x4_t first = loadQuads(quads + j * 16), second = loadQuads(quads + 64 + j * 16);
        const int8x16_t two = vreinterpretq_s8_s32(vzip1q_s32(first, second));
        const int8x16_t next = vreinterpretq_s8_s32(vzip2q_s32(first, second));
#pragma GCC unroll 4
        for (int i = 0; i < kPairs; ++i) {
          sum[i][2 * j] = vusmmlaq_s32(sum[i][2 * j], pair[i], two);
          sum[i][2 * j + 1] = vusmmlaq_s32(sum[i][2 * j + 1], pair[i], next);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const int64x2_t left = vreinterpretq_s64_s32(sum[i][2 * j]);
      const int64x2_t right = vreinterpretq_s64_s32(sum[i][2 * j + 1]);
      int32_t* to = sums + 2 * i * kBlockColumns + 4 * j;
      vst1q_s32(to, vreinterpretq_s32_s64(vzip1q_s64(left, right)));
      vst1q_s32(to + kBlockColumns, vreinterpretq_s32_s64(vzip2q_s64(left, right)));
    }
}

}  // namespace

void multiplyWithI8mm(const Block& block) {
  for (int64_t row = 0; row < block.rows; row += 8) {
    const uint8_t* a =
        block.a + row / kStripRows * stripBytes(block.k) + row % kStripRows * kStepDepth;
    const int64_t rows = block.rows - row;
    for (int64_t column = 0; column < kBlockColumns; column += kColumns) {
      const int8_t* b = block.b + column / 16 * kTileBytes + column % 16 * 4;
      int32_t* sums = block.sums + row * kBlockColumns + column;
      if (rows > 6)
        multiplyRows<8>(a, b, block.k, sums);
      else if (rows > 4)
        multiplyRows<6>(a, b, block.k, sums);
      else if (rows > 2)
        multiplyRows<4>(a, b, block.k, sums);
      else
        multiplyRows<2>(a, b, block.k, sums);
    }
  }
}

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

void multiplyWithI8mm(const Block&) {}  // never called where hasI8mm() is false

}  // namespace camshaft::cpu::gemm_int8

#endif
