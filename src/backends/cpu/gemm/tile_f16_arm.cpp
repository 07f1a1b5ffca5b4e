// Compiled for CPUs with f16 vectors, and run only on those (hasGemm16): nothing here may be inline
// code of others, whose copy the linker could keep for everybody.
#include "backends/cpu/gemm/tile16.h"

#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#include <arm_neon.h>

namespace camshaft::cpu {

namespace {

float16x8_t loadF16(const uint16_t* from) {
  return vld1q_f16(reinterpret_cast<const float16_t*>(from));
}

// The first `count` < 4 values; what lies behind them is not read.
float32x4_t loadFirst(const float* from, int64_t count) {
  float values[4] = {};
  for (int64_t i = 0; i < count; ++i) values[i] = from[i];
  return vld1q_f32(values);
}

float32x4_t loadUpTo4(const float* from, int64_t count) {
  return count >= 4 ? vld1q_f32(from) : loadFirst(from, count);
}

uint16x8_t roundPair(float32x4_t low, float32x4_t high) {
  return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
}

// Two rows side by side, with the largest bits of each without their signs.
template <bool kScales>
class PairOfRows {
 public:
  PairOfRows(const float* top, const float* bottom, float topScale, float bottomScale)
      : top_(top), bottom_(bottom), topScale_(topScale), bottomScale_(bottomScale) {}
  void pack(int64_t k, int64_t count, uint16_t* to) {
    float32x4_t top = loadUpTo4(top_ + k, count), bottom = loadUpTo4(bottom_ + k, count);
    if constexpr (kScales) {
      top = vmulq_n_f32(top, topScale_);
      bottom = vmulq_n_f32(bottom, bottomScale_);
    }
    const uint16x8_t values = roundPair(top, bottom);
    largest_ = vmaxq_u16(largest_, vandq_u16(values, vdupq_n_u16(0x7fff)));
    vst1q_u16(to, values);
  }
  void raise(uint16_t& top, uint16_t& bottom) const {
    const uint16_t mostOfTop = vmaxv_u16(vget_low_u16(largest_));
    const uint16_t mostOfBottom = vmaxv_u16(vget_high_u16(largest_));
    top = top > mostOfTop ? top : mostOfTop;
    bottom = bottom > mostOfBottom ? bottom : mostOfBottom;
  }

 private:
  const float *top_, *bottom_;
  float topScale_, bottomScale_;
  uint16x8_t largest_ = vdupq_n_u16(0);
};

// The row `bottom` may be `top` again.
template <bool kScales>
void packPair(const float* const* from, int64_t top, int64_t bottom, int64_t count,
              const Panel16& panel) {
  const float* scales = panel.scales;
  PairOfRows<kScales> pair(from[top], from[bottom], kScales ? scales[top] : 1,
                           kScales ? scales[bottom] : 1);
  uint16_t* to = panel.steps + top * kDepth16;
  int64_t k = 0;
  for (; k + kDepth16 <= count; k += kDepth16, to += kStepHalves16) pair.pack(k, kDepth16, to);
  if (k < count) pair.pack(k, count - k, to);
  pair.raise(panel.largest[top], panel.largest[bottom]);
}

// What brings the largest number of a column to where tile16.h wants it.
float scaleOf(float most) {
  constexpr float kLowest = 0x1p-126f, kHighest = 0x1p120f;
  if (!(most > 0) || most > __FLT_MAX__) return 1;  // not a number either
  const float scale = __builtin_scalbnf(kMostOfF16Columns / 2, -__builtin_ilogbf(most));
  return scale < kLowest ? kLowest : scale > kHighest ? kHighest : scale;
}

// Four steps of k of the columns, [4][8]; what is not there is zero.
struct StepOfColumns {
  float32x4_t low[kDepth16], high[kDepth16];
};

StepOfColumns loadRows(const float* b, int64_t ldb, int64_t depth, int64_t columns) {
  const float32x4_t zero = vdupq_n_f32(0);
  StepOfColumns step;
  for (int64_t i = 0; i < kDepth16; ++i) {
    step.low[i] = i < depth ? loadUpTo4(b + i * ldb, columns) : zero;
    step.high[i] = i < depth && columns > 4 ? loadUpTo4(b + i * ldb + 4, columns - 4) : zero;
  }
  return step;
}

void transpose4(float32x4_t (&v)[kDepth16]) {
  const float32x4_t a = vzip1q_f32(v[0], v[2]), b = vzip2q_f32(v[0], v[2]);
  const float32x4_t c = vzip1q_f32(v[1], v[3]), d = vzip2q_f32(v[1], v[3]);
  v[0] = vzip1q_f32(a, c);
  v[1] = vzip2q_f32(a, c);
  v[2] = vzip1q_f32(b, d);
  v[3] = vzip2q_f32(b, d);
}

StepOfColumns loadColumns(const float* b, int64_t ldb, int64_t depth, int64_t columns) {
  const float32x4_t zero = vdupq_n_f32(0);
  StepOfColumns step;
  for (int64_t i = 0; i < 4; ++i) {
    step.low[i] = i < columns ? loadUpTo4(b + i * ldb, depth) : zero;
    step.high[i] = i + 4 < columns ? loadUpTo4(b + (i + 4) * ldb, depth) : zero;
  }
  transpose4(step.low);
  transpose4(step.high);
  return step;
}

// Once for the scales, and once to store.
template <class Load>
void packColumns(const Load& load, int64_t k, uint16_t* panel) {
  float32x4_t most[2] = {vdupq_n_f32(0), vdupq_n_f32(0)};
  for (int64_t at = 0; at < k; at += kDepth16) {
    const StepOfColumns step = load(at);
    for (int64_t i = 0; i < kDepth16; ++i) {
      most[0] = vmaxq_f32(most[0], vabsq_f32(step.low[i]));
      most[1] = vmaxq_f32(most[1], vabsq_f32(step.high[i]));
    }
  }
  float scales[kColumns16];
  vst1q_f32(scales, most[0]);
  vst1q_f32(scales + 4, most[1]);
  for (float& scale : scales) scale = scaleOf(scale);
  const float32x4_t low = vld1q_f32(scales), high = vld1q_f32(scales + 4);
  for (int64_t at = 0; at < k; at += kDepth16) {
    const StepOfColumns step = load(at);
    for (int64_t i = 0; i < kDepth16; ++i, panel += kColumns16)
      vst1q_u16(panel, roundPair(vmulq_f32(step.low[i], low), vmulq_f32(step.high[i], high)));
  }
  auto* factors = reinterpret_cast<float*>(panel);
  vst1q_f32(factors, vdivq_f32(vdupq_n_f32(1), low));
  vst1q_f32(factors + 4, vdivq_f32(vdupq_n_f32(1), high));
}

// sum + b * a[kLane]. GCC 12 copies the lane to a vector of its own first, at half the speed.
template <int kLane>
float16x8_t multiplyAdd(float16x8_t sum, float16x8_t b, float16x8_t a) {
  asm("fmla %0.8h, %1.8h, %2.h[%3]" : "+w"(sum) : "w"(b), "x"(a), "i"(kLane));
  return sum;
}

// Of one step; `kAt` says which of its four numbers.
template <int kAt, int kRows, int kChains>
void multiplyBy(const float16x8_t (&a)[kRows / 2], const uint16_t* b,
                float16x8_t (&sum)[kRows][kChains]) {
  const float16x8_t columns = loadF16(b + kAt * kColumns16);
#pragma GCC unroll 4
  for (int i = 0; i < kRows; i += 2) {
    float16x8_t &top = sum[i][kAt % kChains], &bottom = sum[i + 1][kAt % kChains];
    top = multiplyAdd<kAt>(top, columns, a[i / 2]);
    bottom = multiplyAdd<kAt + 4>(bottom, columns, a[i / 2]);
  }
}

// Adds kF16Chunk products at a time in f16, each chain of them, and these sums in f32. Few rows are
// several chains each, or every addition would wait for the one before.
template <int kRows>
void multiply(const Tile16& t) {
  constexpr int kChains = kRows > 4 ? 1 : kRows > 2 ? 2 : 4;
  constexpr int64_t kChunkSteps = kF16Chunk * kChains / kDepth16;
  float32x4_t low[kRows], high[kRows];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) low[i] = high[i] = vdupq_n_f32(0);
  const uint16_t* a = t.a;
  const uint16_t* b = t.b;
  for (int64_t left = t.steps; left > 0; left -= kChunkSteps) {
    float16x8_t sum[kRows][kChains];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int chain = 0; chain < kChains; ++chain) sum[i][chain] = vdupq_n_f16(0);
#pragma GCC unroll 1
    for (int64_t step = left < kChunkSteps ? left : kChunkSteps; step > 0; --step) {
      float16x8_t rows[kRows / 2];
#pragma GCC unroll 4
      for (int i = 0; i < kRows / 2; ++i) rows[i] = loadF16(a + i * 8);
      multiplyBy<0>(rows, b, sum);
      multiplyBy<1>(rows, b, sum);
      multiplyBy<2>(rows, b, sum);
      multiplyBy<3>(rows, b, sum);
      a += kStepHalves16;
      b += kStepHalves16;
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int chain = 0; chain < kChains; ++chain) {
        low[i] = vaddq_f32(low[i], vcvt_f32_f16(vget_low_f16(sum[i][chain])));
        high[i] = vaddq_f32(high[i], vcvt_high_f32_f16(sum[i][chain]));
      }
  }
  const float32x4_t lowFactors = vld1q_f32(t.columnFactors);
  const float32x4_t highFactors = vld1q_f32(t.columnFactors + 4);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    float* to = t.products + i * t.stride;
    low[i] = vmulq_f32(low[i], vmulq_n_f32(lowFactors, t.rowFactors[i]));
    high[i] = vmulq_f32(high[i], vmulq_n_f32(highFactors, t.rowFactors[i]));
    if (t.accumulate) {
      low[i] = vaddq_f32(low[i], vld1q_f32(to));
      high[i] = vaddq_f32(high[i], vld1q_f32(to + 4));
    }
    vst1q_f32(to, low[i]);
    vst1q_f32(to + 4, high[i]);
  }
}

}  // namespace

void packF16Rows(const float* const* from, int64_t rows, int64_t count, const Panel16& panel) {
  const auto pack = panel.scales ? packPair<true> : packPair<false>;
  for (int64_t i = 0; i < rows; i += 2) pack(from, i, i + 1 < rows ? i + 1 : i, count, panel);
}

void packF16Columns(const float* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                    uint16_t* panel) {
  const auto depthAt = [&](int64_t at) { return k - at < kDepth16 ? k - at : kDepth16; };
  if (transposed)
    packColumns([&](int64_t at) { return loadColumns(b + at, ldb, depthAt(at), columns); }, k,
                panel);
  else
    packColumns([&](int64_t at) { return loadRows(b + at * ldb, ldb, depthAt(at), columns); }, k,
                panel);
}

void multiplyF16(const Tile16& tile) {
  if (tile.rows > 6) return multiply<8>(tile);
  if (tile.rows > 4) return multiply<6>(tile);
  if (tile.rows > 2) return multiply<4>(tile);
  multiply<2>(tile);
}

}  // namespace camshaft::cpu

#else

namespace camshaft::cpu {

// Never called where hasGemm16() is false.
void packF16Rows(const float* const*, int64_t, int64_t, const Panel16&) {}
void packF16Columns(const float*, int64_t, bool, int64_t, int64_t, uint16_t*) {}
void multiplyF16(const Tile16&) {}

}  // namespace camshaft::cpu

#endif
