// Arm's sums of four byte products (sdot), for CPUs that have no usmmla. Compiled for CPUs that
// have them and run only on those: nothing here may be inline code of others, whose copy the linker
// could keep for everybody.
#include "backends/cpu/gemm_int8/tile.h"

#if defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr int64_t kDepth = kPanels.depth, kStripRows = kPanels.stripRows;
constexpr int64_t kPanelColumns = kBlockColumns / 2;
constexpr int64_t kPanelStepBytes = kPanelColumns * kDepth, kStripStepBytes = kStripRows * kDepth;
static_assert(kPanelStepBytes == 256 && kStripStepBytes == 128);

// One row's quad `lane` by 16 columns, and meanwhile the load of a quad of four columns to come.
#define CAMSHAFT_ROW(row, lane, s0, s1, s2, s3, b0, b1, b2, b3, next, from) \
  "sdot v" #s0 ".4s, v" #b0 ".16b, v" #row ".4b[" #lane                     \
  "]\n"                                                                     \
  "sdot v" #s1 ".4s, v" #b1 ".16b, v" #row ".4b[" #lane                     \
  "]\n"                                                                     \
  "sdot v" #s2 ".4s, v" #b2 ".16b, v" #row ".4b[" #lane                     \
  "]\n"                                                                     \
  "ldr q" #next ", " from                                                   \
  "\n"                                                                      \
  "sdot v" #s3 ".4s, v" #b3 ".16b, v" #row ".4b[" #lane "]\n"
// Sums are v16 to v31, four for each row; quads of columns are v8 to v11 and v12 to v15 in turn.
#define CAMSHAFT_EVEN_ROW(row, lane, s0, s1, s2, s3, next, from) \
  CAMSHAFT_ROW(row, lane, s0, s1, s2, s3, 8, 9, 10, 11, next, from)
#define CAMSHAFT_ODD_ROW(row, lane, s0, s1, s2, s3, next, from) \
  CAMSHAFT_ROW(row, lane, s0, s1, s2, s3, 12, 13, 14, 15, next, from)

// Four rows of a strip by a panel. In assembly: of the same loop in intrinsics, compilers make
// moves that cost a tenth of the time. The last step loads its own operands once more, where others
// load those of the next.
void multiplyFourRows(const uint8_t* a, const int8_t* b, int64_t steps, int32_t* sums) {
  static_assert(kBlockColumns * sizeof(int32_t) == 128);
  const uint8_t* nextA;
  const int8_t* nextB;
  asm volatile(
      "ldp q0, q1, [%[a]]\n ldp q2, q3, [%[a], #32]\n"
      "ldp q8, q9, [%[b]]\n ldp q10, q11, [%[b], #32]\n"
      "movi v16.4s, #0\n movi v17.4s, #0\n movi v18.4s, #0\n movi v19.4s, #0\n"
      "movi v20.4s, #0\n movi v21.4s, #0\n movi v22.4s, #0\n movi v23.4s, #0\n"
      "movi v24.4s, #0\n movi v25.4s, #0\n movi v26.4s, #0\n movi v27.4s, #0\n"
      "movi v28.4s, #0\n movi v29.4s, #0\n movi v30.4s, #0\n movi v31.4s, #0\n"
      "1:\n"
      "subs %[steps], %[steps], #1\n"
      "add %[nextA], %[a], #128\n add %[nextB], %[b], #256\n"
      "csel %[nextA], %[nextA], %[a], gt\n csel %[nextB], %[nextB], %[b], gt\n"
      // clang-format off
      CAMSHAFT_EVEN_ROW(0, 0, 16, 17, 18, 19, 12, "[%[b], #64]")
      CAMSHAFT_EVEN_ROW(1, 0, 20, 21, 22, 23, 13, "[%[b], #80]")
      CAMSHAFT_EVEN_ROW(2, 0, 24, 25, 26, 27, 14, "[%[b], #96]")
      CAMSHAFT_EVEN_ROW(3, 0, 28, 29, 30, 31, 15, "[%[b], #112]")
      CAMSHAFT_ODD_ROW(0, 1, 16, 17, 18, 19, 8, "[%[b], #128]")
      CAMSHAFT_ODD_ROW(1, 1, 20, 21, 22, 23, 9, "[%[b], #144]")
      CAMSHAFT_ODD_ROW(2, 1, 24, 25, 26, 27, 10, "[%[b], #160]")
      CAMSHAFT_ODD_ROW(3, 1, 28, 29, 30, 31, 11, "[%[b], #176]")
      CAMSHAFT_EVEN_ROW(0, 2, 16, 17, 18, 19, 12, "[%[b], #192]")
      CAMSHAFT_EVEN_ROW(1, 2, 20, 21, 22, 23, 13, "[%[b], #208]")
      CAMSHAFT_EVEN_ROW(2, 2, 24, 25, 26, 27, 14, "[%[b], #224]")
      CAMSHAFT_EVEN_ROW(3, 2, 28, 29, 30, 31, 15, "[%[b], #240]")
      CAMSHAFT_ODD_ROW(0, 3, 16, 17, 18, 19, 8, "[%[nextB]]")
      "ldr q0, [%[nextA]]\n"
      CAMSHAFT_ODD_ROW(1, 3, 20, 21, 22, 23, 9, "[%[nextB], #16]")
      "ldr q1, [%[nextA], #16]\n"
      CAMSHAFT_ODD_ROW(2, 3, 24, 25, 26, 27, 10, "[%[nextB], #32]")
      "ldr q2, [%[nextA], #32]\n"
      CAMSHAFT_ODD_ROW(3, 3, 28, 29, 30, 31, 11, "[%[nextB], #48]")
      "ldr q3, [%[nextA], #48]\n"
      // clang-format on
      "mov %[a], %[nextA]\n mov %[b], %[nextB]\n"
      "b.gt 1b\n"
      "stp q16, q17, [%[sums]]\n stp q18, q19, [%[sums], #32]\n"
      "stp q20, q21, [%[sums], #128]\n stp q22, q23, [%[sums], #160]\n"
      "stp q24, q25, [%[sums], #256]\n stp q26, q27, [%[sums], #288]\n"
      "stp q28, q29, [%[sums], #384]\n stp q30, q31, [%[sums], #416]\n"
      : [a] "+r"(a), [b] "+r"(b), [steps] "+r"(steps), [nextA] "=&r"(nextA), [nextB] "=&r"(nextB)
      : [sums] "r"(sums)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
        "v28", "v29", "v30", "v31");
}

#undef CAMSHAFT_ROW
#undef CAMSHAFT_EVEN_ROW
#undef CAMSHAFT_ODD_ROW

// One row's quad kLane by 16 columns.
template <int kLane>
inline __attribute__((always_inline)) void addQuad(int8x16_t row, const int8_t* b,
                                                   int32x4_t (&sum)[4]) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j)
    sum[j] = vdotq_laneq_s32(sum[j], vld1q_s8(b + kLane * 64 + j * 16), row, kLane);
}

// Few rows, for which the time is that of reading B.
template <int kRows>
void multiplyRows(const uint8_t* a, const int8_t* b, int64_t steps, int32_t* sums) {
  int32x4_t sum[kRows][4];
#pragma GCC unroll 2
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sum[i][j] = vdupq_n_s32(0);
#pragma GCC unroll 1
  for (; steps > 0; --steps, a += kStripStepBytes, b += kPanelStepBytes)
#pragma GCC unroll 2
    for (int i = 0; i < kRows; ++i) {
      const int8x16_t row = vreinterpretq_s8_u8(vld1q_u8(a + i * kDepth));
      addQuad<0>(row, b, sum[i]);
      addQuad<1>(row, b, sum[i]);
      addQuad<2>(row, b, sum[i]);
      addQuad<3>(row, b, sum[i]);
    }
#pragma GCC unroll 2
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) vst1q_s32(sums + i * kBlockColumns + j * 4, sum[i][j]);
}

constexpr int64_t kTileRows = 4;

void multiplyPanel(const Block& block, const int8_t* b, int64_t steps, int32_t* sums) {
  for (int64_t row = 0; row < block.rows; row += kTileRows) {
    const uint8_t* a =
        block.a + row / kStripRows * steps * kStripStepBytes + row % kStripRows * kDepth;
    const int64_t rows = block.rows - row;
    const auto multiply = rows > 2    ? multiplyFourRows
                          : rows == 2 ? multiplyRows<2>
                                      : multiplyRows<1>;
    multiply(a, b, steps, sums + row * kBlockColumns);
  }
}

}  // namespace

void multiplyWithDots(const Block& block) {
  const int64_t steps = (block.k + kDepth - 1) / kDepth;
  if (steps == 0) {
    for (int64_t i = 0; i < block.rows * kBlockColumns; ++i) block.sums[i] = 0;
    return;
  }
  multiplyPanel(block, block.b, steps, block.sums);
  if (block.columns > kPanelColumns)
    multiplyPanel(block, block.b + steps * kPanelStepBytes, steps, block.sums + kPanelColumns);
}

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

void multiplyWithDots(const Block&) {}  // never called where hasDots() is false

}  // namespace camshaft::cpu::gemm_int8

#endif
