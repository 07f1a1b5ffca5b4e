// Compiled for CPUs with bf16, and run only on those (hasGemm16): nothing here may be inline code
// of others, whose copy the linker could keep for everybody.
#include "backends/cpu/gemm/tile16.h"

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#include <arm_neon.h>

namespace camshaft::cpu {

namespace {

bfloat16x8_t loadBf16(const uint16_t* from) {
  return vld1q_bf16(reinterpret_cast<const bfloat16_t*>(from));
}

bfloat16x8_t roundPair(float32x4_t low, float32x4_t high) {
  return vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(low), high);
}

bfloat16x8_t roundPair(uint16x4_t low, uint16x4_t high) {  // which are round already
  return vreinterpretq_bf16_u16(vcombine_u16(low, high));
}

void storeBf16(uint16_t* to, bfloat16x8_t values) {
  vst1q_bf16(reinterpret_cast<bfloat16_t*>(to), values);
}

// The first `count` < 4 values; what lies behind them is not read.
float32x4_t loadFirst(const float* from, int64_t count) {
  float values[4] = {};
  for (int64_t i = 0; i < count; ++i) values[i] = from[i];
  return vld1q_f32(values);
}

uint16x4_t loadFirst(const uint16_t* from, int64_t count) {
  uint16_t values[4] = {};
  for (int64_t i = 0; i < count; ++i) values[i] = from[i];
  return vld1_u16(values);
}

float32x4_t load4(const float* from) { return vld1q_f32(from); }
uint16x4_t load4(const uint16_t* from) { return vld1_u16(from); }

float32x4_t loadUpTo4(const float* from, int64_t count) {
  return count >= 4 ? load4(from) : loadFirst(from, count);
}

template <int kPairs, class T>
void packPairs(const T* const* from, int64_t count, uint16_t* panel) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4, panel += kStepHalves16)
#pragma GCC unroll 4
    for (int i = 0; i < 2 * kPairs; i += 2)
      storeBf16(panel + i * 4, roundPair(load4(from[i] + k), load4(from[i + 1] + k)));
  if (k == count) return;
  for (int i = 0; i < 2 * kPairs; i += 2)
    storeBf16(panel + i * 4,
              roundPair(loadFirst(from[i] + k, count - k), loadFirst(from[i + 1] + k, count - k)));
}

template <class T>
void packRows(const T* const* from, int64_t rows, int64_t count, uint16_t* panel) {
  const T* all[kRows16];
  for (int64_t i = 0; i < kRows16; ++i) all[i] = from[i < rows ? i : rows - 1];
  if (rows > 6) return packPairs<4>(all, count, panel);
  if (rows > 4) return packPairs<3>(all, count, panel);
  if (rows > 2) return packPairs<2>(all, count, panel);
  packPairs<1>(all, count, panel);
}

// kRows / 2 pairs of rows by four pairs of columns.
template <int kRows>
void multiply(const Tile16& t) {
  constexpr int kPairs = kRows / 2, kColumnPairs = kColumns16 / 2;
  float32x4_t sum[kPairs][kColumnPairs];
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kColumnPairs; ++j) sum[i][j] = vdupq_n_f32(0);
  const uint16_t* a = t.a;
  const uint16_t* b = t.b;
#pragma GCC unroll 1
  for (int64_t step = t.steps; step > 0; --step, a += 32, b += 32) {
    bfloat16x8_t av[kPairs];
#pragma GCC unroll 4
    for (int i = 0; i < kPairs; ++i) av[i] = loadBf16(a + i * 8);
#pragma GCC unroll 4
    for (int j = 0; j < kColumnPairs; ++j) {
      const bfloat16x8_t bv = loadBf16(b + j * 8);
#pragma GCC unroll 4
      for (int i = 0; i < kPairs; ++i) sum[i][j] = vbfmmlaq_f32(sum[i][j], av[i], bv);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kColumnPairs; j += 2) {
      const float64x2_t left = vreinterpretq_f64_f32(sum[i][j]);
      const float64x2_t right = vreinterpretq_f64_f32(sum[i][j + 1]);
      float32x4_t above = vreinterpretq_f32_f64(vzip1q_f64(left, right));
      float32x4_t below = vreinterpretq_f32_f64(vzip2q_f64(left, right));
      float* to = t.products + 2 * i * t.stride + 2 * j;
      if (t.accumulate) {
        above = vaddq_f32(above, vld1q_f32(to));
        below = vaddq_f32(below, vld1q_f32(to + t.stride));
      }
      vst1q_f32(to, above);
      vst1q_f32(to + t.stride, below);
    }
}

}  // namespace

void packBf16Rows(const float* const* from, int64_t rows, int64_t count, uint16_t* panel) {
  packRows(from, rows, count, panel);
}

void packBf16Rows(const uint16_t* const* from, int64_t rows, int64_t count, uint16_t* panel) {
  packRows(from, rows, count, panel);
}

void packBf16Columns(const float* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                     uint16_t* panel) {
  if (transposed) {
    const float* from[kColumns16];
    for (int64_t j = 0; j < kColumns16; ++j) from[j] = b + (j < columns ? j : columns - 1) * ldb;
    return packPairs<4>(from, k, panel);
  }
  for (int64_t step = 0; step < k; step += 4, b += 4 * ldb, panel += 32) {
    uint16x8_t row[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const float* from = b + i * ldb;
      const float32x4_t zero = vdupq_n_f32(0);
      const bool isThere = step + i < k;
      const float32x4_t low = isThere ? loadUpTo4(from, columns) : zero;
      const float32x4_t high = isThere && columns > 4 ? loadUpTo4(from + 4, columns - 4) : zero;
      row[i] = vreinterpretq_u16_bf16(roundPair(low, high));
    }
    const uint32x4_t top[] = {vreinterpretq_u32_u16(vzip1q_u16(row[0], row[1])),
                              vreinterpretq_u32_u16(vzip2q_u16(row[0], row[1]))};
    const uint32x4_t bottom[] = {vreinterpretq_u32_u16(vzip1q_u16(row[2], row[3])),
                                 vreinterpretq_u32_u16(vzip2q_u16(row[2], row[3]))};
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      vst1q_u16(panel + half * 16, vreinterpretq_u16_u32(vzip1q_u32(top[half], bottom[half])));
      vst1q_u16(panel + half * 16 + 8, vreinterpretq_u16_u32(vzip2q_u32(top[half], bottom[half])));
    }
  }
}

void multiplyBf16(const Tile16& tile) {
  if (tile.rows > 6) return multiply<8>(tile);
  if (tile.rows > 4) return multiply<6>(tile);
  if (tile.rows > 2) return multiply<4>(tile);
  multiply<2>(tile);
}

}  // namespace camshaft::cpu

#elif !defined(__x86_64__)

namespace camshaft::cpu {

// Never called where hasGemm16() is false.
void packBf16Rows(const float* const*, int64_t, int64_t, uint16_t*) {}
void packBf16Rows(const uint16_t* const*, int64_t, int64_t, uint16_t*) {}
void packBf16Columns(const float*, int64_t, bool, int64_t, int64_t, uint16_t*) {}
void multiplyBf16(const Tile16&) {}

}  // namespace camshaft::cpu

#endif
