// The register tile of the matrix product: up to kMaxRows x (kMaxVectors vectors) of C, for code
// inside HWY_NAMESPACE.

#include <cstdint>
#include <utility>

#include "backends/cpu/gemm/activation-inl.h"

#if defined(CAMSHAFT_CPU_MICRO_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMSHAFT_CPU_MICRO_KERNEL_INL_H_
#undef CAMSHAFT_CPU_MICRO_KERNEL_INL_H_
#else
#define CAMSHAFT_CPU_MICRO_KERNEL_INL_H_
#endif

// Highway's versions differ in how many kinds of NEON they tell apart; to the preprocessor a kind
// that this one lacks is 0, which no target is.
#define CAMSHAFT_NEON_TILES \
  (HWY_TARGET == HWY_NEON_BF16 || HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_NEON_WITHOUT_AES)

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Tiles whose accumulators, B vectors and one broadcast of A fit the register file. Seven rows, not
// fourteen by half the width: A is read where it lies, and more rows a power of two apart than the
// L1 cache has ways would evict each other.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kMaxRows = 7, kMaxVectors = 4;
#elif CAMSHAFT_NEON_TILES
inline constexpr int kMaxRows = 8, kMaxVectors = 3;
#elif HWY_TARGET == HWY_SCALAR
inline constexpr int kMaxRows = 4, kMaxVectors = 4;
#else
inline constexpr int kMaxRows = 6, kMaxVectors = 2;
#endif

using TileTag = hn::ScalableTag<float>;
using TileVector = hn::Vec<TileTag>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(TileTag()));
inline constexpr int kPanelWidth = kMaxVectors * kLanes;
// With the lines that the hardware fetches in pairs, one per step of k is enough for narrow panels.
inline constexpr int kPrefetchesPerStep = kPanelWidth > 16 ? 2 : 1;

// C = clamp(scale * A B + bias + residual + (accumulate ? C : 0), low, high). Bias and residual may
// be null.
struct Tile {
  const float* a;
  int64_t lda;     // 0: packed, kMaxRows floats per step of k
  const float* b;  // kPanelWidth floats per step of k
  int64_t k;       // of each segment of A's rows
  int64_t segments, segmentStride;
  float* c;
  int64_t ldc;
  const float* bias;
  const float* residual;
  int64_t residualStride;
  float scale, low, high;
  bool accumulate;
  int lastLanes;         // columns in the last vector; all of them but where kHasMasks
  const char* prefetch;  // brought to L2 in the meantime
  int64_t prefetchStep;  // bytes
};

// What is due in one step of k. Tiles of few rows take B as fast as L2 can give it, so fetching
// beside that would hold them up; the CPU sees by itself that they read on and on.
template <int kRows>
HWY_INLINE const char* prefetchToL2(const char* address, int64_t step) {
  if constexpr (kRows < 4) return address;
#pragma GCC unroll 2
  for (int i = 0; i < kPrefetchesPerStep; ++i, address += step) __builtin_prefetch(address, 0, 2);
  return address;
}

#if CAMSHAFT_NEON_TILES
// One step of k of rows [kFirst, kFirst + kCount), whose values of A are lane kLane of `a`.
template <int kLane, int kFirst, int kCount, int kRows, int kVectors>
HWY_INLINE void multiplyByLane(const float32x4_t (&a)[kCount], const float* b,
                               TileVector (&sum)[kRows][kVectors]) {
  asm volatile("" ::: "memory");  // no loads ahead: sums would have to leave their registers
  float32x4_t bv[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) bv[v] = vld1q_f32(b + v * kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[kFirst + i][v].raw = vfmaq_laneq_f32(sum[kFirst + i][v].raw, bv[v], a[i], kLane);
    }
  }
}

// Four steps: one load of A serves four products by lane. As many rows at a time as registers hold
// A of, beside their sums.
template <int kFirst, int kRows, int kVectors>
HWY_INLINE void multiplyFourSteps(const float* a, int64_t lda, const float* b,
                                  TileVector (&sum)[kRows][kVectors]) {
  constexpr int kMost = kVectors > 2 ? 4 : kRows;
  constexpr int kCount = kRows - kFirst < kMost ? kRows - kFirst : kMost;
  float32x4_t av[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) av[i] = vld1q_f32(a + (kFirst + i) * lda);
  multiplyByLane<0, kFirst>(av, b, sum);
  multiplyByLane<1, kFirst>(av, b + kPanelWidth, sum);
  multiplyByLane<2, kFirst>(av, b + 2 * kPanelWidth, sum);
  multiplyByLane<3, kFirst>(av, b + 3 * kPanelWidth, sum);
  if constexpr (kFirst + kCount < kRows) multiplyFourSteps<kFirst + kCount>(a, lda, b, sum);
}
#endif

#if CAMSHAFT_NEON_TILES
// Rows [kFirst, kFirst + 4) by one vector of B; their values of A lie side by side.
template <int kFirst, int kRows, int kVectors>
HWY_INLINE void multiplyFour(float32x4_t a, float32x4_t b, int v,
                             TileVector (&sum)[kRows][kVectors]) {
  sum[kFirst][v].raw = vfmaq_laneq_f32(sum[kFirst][v].raw, b, a, 0);
  if constexpr (kRows > kFirst + 1)
    sum[kFirst + 1][v].raw = vfmaq_laneq_f32(sum[kFirst + 1][v].raw, b, a, 1);
  if constexpr (kRows > kFirst + 2)
    sum[kFirst + 2][v].raw = vfmaq_laneq_f32(sum[kFirst + 2][v].raw, b, a, 2);
  if constexpr (kRows > kFirst + 3)
    sum[kFirst + 3][v].raw = vfmaq_laneq_f32(sum[kFirst + 3][v].raw, b, a, 3);
}

template <int kRows, int kVectors>
HWY_INLINE void multiplyPacked(const Tile& t, TileVector (&sum)[kRows][kVectors]) {
  static_assert(kMaxRows == 8);
  const float* HWY_RESTRICT a = t.a;
  const float* HWY_RESTRICT b = t.b;
  const char* prefetch = t.prefetch;
#pragma GCC unroll 1
  for (int64_t k = t.k; k > 0; --k, a += kMaxRows, b += kPanelWidth) {
    const float32x4_t top = vld1q_f32(a), bottom = vld1q_f32(a + 4);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const float32x4_t bv = vld1q_f32(b + v * kLanes);
      multiplyFour<0>(top, bv, v, sum);
      if constexpr (kRows > 4) multiplyFour<4>(bottom, bv, v, sum);
    }
    prefetch = prefetchToL2<kRows>(prefetch, t.prefetchStep);
  }
}
#endif

template <int kRows, int kVectors>
HWY_INLINE void multiply(const Tile& t, TileVector (&sum)[kRows][kVectors]) {
#if CAMSHAFT_NEON_TILES
  if (t.lda == 0) return multiplyPacked(t, sum);
#endif
  const TileTag d;
  const float* HWY_RESTRICT b = t.b;
  const int64_t lda = t.lda;
  const char* prefetch = t.prefetch;
#pragma GCC unroll 1
  for (int64_t segment = 0; segment < t.segments; ++segment) {
    const float* HWY_RESTRICT a = t.a + segment * t.segmentStride;
    int64_t k = t.k;

#if CAMSHAFT_NEON_TILES
#pragma GCC unroll 1
    for (; k >= 4; k -= 4, a += 4) {
      multiplyFourSteps<0>(a, lda, b, sum);
      b += 4 * kPanelWidth;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) prefetch = prefetchToL2<kRows>(prefetch, t.prefetchStep);
    }
#endif

#pragma GCC unroll 1
    for (; k > 0; --k) {
      TileVector bv[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) bv[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const TileVector av = hn::Set(d, a[i * lda]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(av, bv[v], sum[i][v]);
      }
      prefetch = prefetchToL2<kRows>(prefetch, t.prefetchStep);
      ++a;
      b += kPanelWidth;
    }
  }
}

// Of a tile's vectors the last may have fewer columns than lanes where vectors have masks.
#if HWY_TARGET <= HWY_AVX3
inline constexpr bool kHasMasks = true;
#else
inline constexpr bool kHasMasks = false;
#endif

template <bool kIsCut>
HWY_INLINE TileVector loadColumns(const float* from, [[maybe_unused]] int lanes) {
  const TileTag d;
  if constexpr (kIsCut) return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(lanes)), d, from);
  return hn::LoadU(d, from);
}

template <bool kIsCut>
HWY_INLINE void storeColumns(TileVector value, float* to, [[maybe_unused]] int lanes) {
  const TileTag d;
  if constexpr (kIsCut)
    hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(lanes)), d, to);
  else
    hn::StoreU(value, d, to);
}

// From sums to C, whose rows are written one after another. With kIsCut the last vectors have
// t.lastLanes columns.
template <bool kIsCut, int kRows, int kVectors>
HWY_INLINE void finishTile(const Tile& t, TileVector (&sum)[kRows][kVectors]) {
  const TileTag d;
  const TileVector scale = hn::Set(d, t.scale), low = hn::Set(d, t.low), high = hn::Set(d, t.high);
  const auto load = [&](const float* row, int v) HWY_ATTR {
    return v == kVectors - 1 ? loadColumns<kIsCut>(row + v * kLanes, t.lastLanes)
                             : loadColumns<false>(row + v * kLanes, kLanes);
  };
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const TileVector bias = t.bias ? load(t.bias, v) : hn::Zero(d);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) sum[i][v] = hn::MulAdd(sum[i][v], scale, bias);
  }
  if (t.residual) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[i][v] = hn::Add(sum[i][v], load(t.residual + i * t.residualStride, v));
    }
  }
  if (t.accumulate) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Add(sum[i][v], load(t.c + i * t.ldc, v));
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    float* row = t.c + i * t.ldc;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors - 1; ++v)
      storeColumns<false>(clamp(low, high, sum[i][v]), row + v * kLanes, kLanes);
    storeColumns<kIsCut>(clamp(low, high, sum[i][kVectors - 1]), row + (kVectors - 1) * kLanes,
                         t.lastLanes);
  }
}

template <int kRows, int kVectors>
HWY_NOINLINE void computeTile(const Tile& t) {
  const TileTag d;
  TileVector sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  }
  multiply<kRows, kVectors>(t, sum);

  if (kHasMasks && t.lastLanes < kLanes)
    finishTile<kHasMasks>(t, sum);
  else
    finishTile<false>(t, sum);
}

using TileFunction = void (*)(const Tile&);

struct TileFunctions {
  TileFunction at[kMaxRows][kMaxVectors];  // [rows - 1][vectors - 1]
};

template <int... kCells>
constexpr TileFunctions makeTileFunctions(std::integer_sequence<int, kCells...>) {
  TileFunctions table{};
  ((table.at[kCells / kMaxVectors][kCells % kMaxVectors] =
        &computeTile<kCells / kMaxVectors + 1, kCells % kMaxVectors + 1>),
   ...);
  return table;
}

inline constexpr TileFunctions kTileFunctions =
    makeTileFunctions(std::make_integer_sequence<int, kMaxRows * kMaxVectors>());

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
