// Arm's sums of four byte products (sdot), for CPUs that have no usmmla. Compiled for CPUs that have
// them and run only on those: nothing here may be inline code of others, whose copy the linker
// could keep for everybody.
//
// sdot takes bytes with signs. With a' = a - 128, which flips the byte's highest bit,
// sum(a b) = sum(a' b) + 128 sum(b): sums begin with the second part, which is the same for all rows.
// What fills A up becomes -128, and meets the zeros that fill B up.
#include "backends/cpu/gemm_int8/tile.h"

#if defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr int64_t kDepth = kQuads.depth, kStripRows = kQuads.stripRows;
constexpr int64_t kHalfColumns = kBlockColumns / 2, kHalfBytes = kDepth * kHalfColumns;
constexpr int kVectors = kHalfColumns / 4;  // of four columns' sums
// Steps at a time: half a block of B stays in L1.
constexpr int64_t kPassSteps = 32;

// 128 times the sums of B's columns.
void beginSums(const int8_t* b, int64_t steps, int32x4_t (&sums)[kVectors]) {
  for (int j = 0; j < kVectors; ++j) sums[j] = vdupq_n_s32(0);
  for (; steps > 0; --steps, b += 2 * kHalfBytes)
    for (int64_t at = 0; at < kHalfBytes; at += 64)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sums[j] = vdotq_s32(sums[j], vld1q_s8(b + at + j * 16), vdupq_n_s8(1));
  for (int j = 0; j < kVectors; ++j) sums[j] = vshlq_n_s32(sums[j], 7);
}

// One quad of each row by that of 16 columns.
template <int kRows, int kLane>
inline __attribute__((always_inline)) void addQuad(const int8x16_t (&rows)[kRows], const int8_t* b,
                                                   int32x4_t (&sum)[kRows][kVectors]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const int8x16_t columns = vld1q_s8(b + kLane * 64 + j * 16);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) sum[i][j] = vdotq_laneq_s32(sum[i][j], columns, rows[i], kLane);
  }
}

// kRows of a strip by 16 columns, over so many steps, added to sums, or to `first` where that is.
template <int kRows>
void multiplyTile(const uint8_t* a, const int8_t* b, int64_t steps, const int32x4_t* first,
                  int32_t* sums) {
  const uint8x16_t highest = vdupq_n_u8(0x80);
  int32x4_t sum[kRows][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      sum[i][j] = first ? first[j] : vld1q_s32(sums + i * kBlockColumns + j * 4);
#pragma GCC unroll 1
  for (; steps > 0; --steps, a += kStripRows * kDepth, b += 2 * kHalfBytes)
#pragma GCC unroll 1
    for (int64_t at = 0; at < kDepth; at += 16) {
      int8x16_t rows[kRows];
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i)
        rows[i] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(a + i * kDepth + at), highest));
      const int8_t* quads = b + at * kHalfColumns;
      addQuad<kRows, 0>(rows, quads, sum);
      addQuad<kRows, 1>(rows, quads, sum);
      addQuad<kRows, 2>(rows, quads, sum);
      addQuad<kRows, 3>(rows, quads, sum);
    }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) vst1q_s32(sums + i * kBlockColumns + j * 4, sum[i][j]);
}

using TileFunction = void (*)(const uint8_t*, const int8_t*, int64_t, const int32x4_t*, int32_t*);
constexpr int64_t kTileRows = 4;
constexpr TileFunction kTiles[kTileRows] = {multiplyTile<1>, multiplyTile<2>, multiplyTile<3>,
                                            multiplyTile<4>};

void multiplyHalf(const Block& block, const int8_t* b, int32_t* sums) {
  const int64_t steps = (block.k + kDepth - 1) / kDepth;
  int32x4_t first[kVectors];
  beginSums(b, steps, first);
  int64_t done = 0;
  do {
    const int64_t depth = steps - done < kPassSteps ? steps - done : kPassSteps;
    for (int64_t row = 0; row < block.rows; row += kTileRows) {
      const int64_t rows = block.rows - row < kTileRows ? block.rows - row : kTileRows;
      const uint8_t* a = block.a + row / kStripRows * steps * kStripRows * kDepth +
                         row % kStripRows * kDepth + done * kStripRows * kDepth;
      kTiles[rows - 1](a, b + done * 2 * kHalfBytes, depth, done == 0 ? first : nullptr,
                       sums + row * kBlockColumns);
    }
    done += depth;
  } while (done < steps);
}

}  // namespace

void multiplyWithDots(const Block& block) {
  multiplyHalf(block, block.b, block.sums);
  if (block.columns > kHalfColumns)
    multiplyHalf(block, block.b + kHalfBytes, block.sums + kHalfColumns);
}

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

void multiplyWithDots(const Block&) {}  // never called where hasDots() is false

}  // namespace camshaft::cpu::gemm_int8

#endif
