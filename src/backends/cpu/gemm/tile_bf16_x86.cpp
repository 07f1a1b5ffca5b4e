// The CPU is asked before what is in here is called (hasGemm16).
#include "backends/cpu/gemm/tile16.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#include "backends/cpu/simd/amx_tiles.h"

#define CAMSHAFT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define CAMSHAFT_AMX __attribute__((target("amx-tile,amx-bf16")))

namespace camshaft::cpu {

namespace {

constexpr int64_t kTileSize = 16;  // rows of A's tiles, columns of B's
constexpr int64_t kTileHalves = 16 * 32;
constexpr int64_t kLineBytes = 64;
constexpr __mmask16 kAll = 0xffff;  // the unmasked forms warn in GCC 12

bool& tilesAllowed() {
  static bool allowed = true;
  return allowed;
}

// Up to 32 values as bf16, zeros behind them.
CAMSHAFT_AVX512 inline __m512i loadHalves(const float* from, int64_t count) {
  const auto low = static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1);
  const auto high = static_cast<__mmask16>(count >= 32   ? 0xffff
                                           : count <= 16 ? 0
                                                         : (1u << (count - 16)) - 1);
  return (__m512i)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high, from + 16),
                                      _mm512_maskz_loadu_ps(low, from));
}

CAMSHAFT_AVX512 inline __m512i loadHalves(const uint16_t* from, int64_t count) {
  const auto mask = static_cast<__mmask32>(count >= 32 ? 0xffffffff : (1u << count) - 1);
  return _mm512_maskz_loadu_epi16(mask, from);
}

// A few steps of all rows at a time, whose lines are few pages apart.
template <class T>
CAMSHAFT_AVX512 inline void packRows(const T* const* from, int64_t rows, int64_t count,
                                     uint16_t* panel) {
  constexpr int64_t kTogether = 8 * kDepth16;
  for (int64_t begin = 0; begin < count; begin += kTogether) {
    const int64_t end = std::min(count, begin + kTogether);
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = from[i];
      uint16_t* to = panel + i * kDepth16;
      int64_t k = begin;
      for (; k + kDepth16 <= end; k += kDepth16, to += kStepHalves16)
        _mm512_storeu_si512(to, loadHalves(row + k, kDepth16));
      if (k < end) _mm512_storeu_si512(to, loadHalves(row + k, end - k));
    }
    panel += 8 * kStepHalves16;
  }
}

// Rows `stride` values apart, a step of all of them after the other.
template <class T>
CAMSHAFT_AVX512 inline void packMatrix(const T* a, int64_t stride, int64_t rows, int64_t count,
                                       uint16_t* panel) {
  for (; count > 0; count -= kDepth16, a += kDepth16, panel += kStepHalves16) {
    const T* from = a;
    if (count >= kDepth16)
      for (int64_t i = 0; i < rows; ++i, from += stride)
        _mm512_storeu_si512(panel + i * kDepth16, loadHalves(from, kDepth16));
    else
      for (int64_t i = 0; i < rows; ++i, from += stride)
        _mm512_storeu_si512(panel + i * kDepth16, loadHalves(from, count));
  }
}

template <class T>
CAMSHAFT_AVX512 inline void copyRows(const T* from, int64_t stride, int64_t rows, int64_t count,
                                     uint16_t* to) {
  for (int64_t row = 0; row < rows; ++row, from += stride)
    for (int64_t k = 0; k < count; k += kDepth16, to += kDepth16)
      _mm512_storeu_si512(to, loadHalves(from + k, count - k));
}

// The 16 x 16 pairs of a tile, rows by columns.
CAMSHAFT_AVX512 inline void transposePairs(__m512i (&x)[16]) {
  __m512i y[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_maskz_unpacklo_epi32(kAll, x[i], x[i + 1]);
    y[i + 1] = _mm512_maskz_unpackhi_epi32(kAll, x[i], x[i + 1]);
  }
  // Now four columns of four rows in each of four vectors' quarters ...
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      x[i + 2 * j] = _mm512_maskz_unpacklo_epi64(0xff, y[i + j], y[i + 2 + j]);
      x[i + 2 * j + 1] = _mm512_maskz_unpackhi_epi64(0xff, y[i + j], y[i + 2 + j]);
    }
  // ... of which the quarters are gathered.
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm512_maskz_shuffle_i32x4(kAll, x[i], x[4 + i], 0x88);
    y[4 + i] = _mm512_maskz_shuffle_i32x4(kAll, x[i], x[4 + i], 0xdd);
    y[8 + i] = _mm512_maskz_shuffle_i32x4(kAll, x[8 + i], x[12 + i], 0x88);
    y[12 + i] = _mm512_maskz_shuffle_i32x4(kAll, x[8 + i], x[12 + i], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm512_maskz_shuffle_i32x4(kAll, y[i], y[8 + i], 0x88);
    x[4 + i] = _mm512_maskz_shuffle_i32x4(kAll, y[4 + i], y[12 + i], 0x88);
    x[8 + i] = _mm512_maskz_shuffle_i32x4(kAll, y[i], y[8 + i], 0xdd);
    x[12 + i] = _mm512_maskz_shuffle_i32x4(kAll, y[4 + i], y[12 + i], 0xdd);
  }
}

// One tile of B from the columns of [...][k].
template <class T>
CAMSHAFT_AVX512 void packTransposedTile(const T* b, int64_t ldb, int64_t depth, int64_t columns,
                                        uint16_t* tile) {
  __m512i pairs[16];
  for (int64_t j = 0; j < kTileSize; ++j)
    pairs[j] = j < columns ? loadHalves(b + j * ldb, depth) : _mm512_setzero_si512();
  transposePairs(pairs);
  for (int64_t i = 0; i < 16; ++i) _mm512_storeu_si512(tile + i * 32, pairs[i]);
}

// 16 values as bf16 in 32 bits each.
CAMSHAFT_AVX512 inline __m512i loadWide(const float* from, __mmask16 mask) {
  const __m512 values = _mm512_maskz_loadu_ps(mask, from);
  return _mm512_maskz_cvtepu16_epi32(kAll, (__m256i)_mm512_cvtneps_pbh(values));
}
CAMSHAFT_AVX512 inline __m512i loadWide(const uint16_t* from, __mmask16 mask) {
  return _mm512_maskz_cvtepu16_epi32(kAll, _mm256_maskz_loadu_epi16(mask, from));
}

// One tile of B from the rows of [k][...].
template <class T>
CAMSHAFT_AVX512 void packTile(const T* b, int64_t ldb, int64_t depth, int64_t columns,
                              uint16_t* tile) {
  const auto mask = static_cast<__mmask16>(columns >= 16 ? 0xffff : (1u << columns) - 1);
  for (int64_t k = 0; k < kDepth16; k += 2, tile += 32) {
    const __m512i low = loadWide(b + k * ldb, k < depth ? mask : 0);
    const __m512i high = loadWide(b + (k + 1) * ldb, k + 1 < depth ? mask : 0);
    _mm512_storeu_si512(tile, _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16)));
  }
}

template <class T>
void packColumns(const T* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                 uint16_t* panel) {
  const auto pack = transposed ? packTransposedTile<T> : packTile<T>;
  const int64_t alongK = transposed ? 1 : ldb, alongColumns = transposed ? ldb : 1;
  for (int64_t step = 0; step < k; step += kDepth16)
    for (int64_t column = 0; column < kColumns16; column += kTileSize, panel += kTileHalves) {
      const int64_t left = std::max<int64_t>(0, columns - column);
      const T* from = left > 0 ? b + step * alongK + column * alongColumns : b;
      pack(from, ldb, left > 0 ? std::min(kDepth16, k - step) : 0, left, panel);
    }
}

inline int64_t tapOf(const Tile16& t, int64_t tap) { return t.taps ? t.taps[tap] : 0; }

// kRows rows by one or two vectors of columns.
template <int kRows, int kVectors>
CAMSHAFT_AVX512 void multiplyRows(const Tile16& t, int64_t row) {
  __m512 sum[kRows][kVectors];
  float* products = t.products + row * t.stride;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      sum[i][j] = t.accumulate ? _mm512_loadu_ps(products + i * t.stride + j * kTileSize)
                               : _mm512_setzero_ps();
  const uint16_t* b = t.b;
  for (int64_t step = 0; step < t.steps * t.tapCount; ++step, b += kStepHalves16) {
    const uint16_t* a = t.a + tapOf(t, step / t.steps) + row * t.aRow + step % t.steps * t.aStep;
#pragma GCC unroll 2
    for (int64_t pair = 0; pair < kDepth16; pair += 2) {
      __m512bh bv[kVectors];
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j)
        bv[j] = (__m512bh)_mm512_loadu_si512(b + j * kTileHalves + pair * kTileSize);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        int32_t both;
        __builtin_memcpy(&both, a + i * t.aRow + pair, sizeof(both));
        const auto av = (__m512bh)_mm512_set1_epi32(both);
#pragma GCC unroll 2
        for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], av, bv[j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      _mm512_storeu_ps(products + i * t.stride + j * kTileSize, sum[i][j]);
}

template <int kVectors>
void multiplyOnVectors(const Tile16& t) {
  const int64_t rows = std::min(t.rows, kRows16);
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8) multiplyRows<8, kVectors>(t, row);
  if (rows & 4) multiplyRows<4, kVectors>(t, row), row += 4;
  if (rows & 2) multiplyRows<2, kVectors>(t, row), row += 2;
  if (rows & 1) multiplyRows<1, kVectors>(t, row);
}

// One or two tiles of A by one or two of B. Tiles 0 to 3 gather the results, by rows.
template <int kRowTiles, int kColumnTiles>
CAMSHAFT_AMX void multiplyOnTiles(const Tile16& t) {
  asm volatile("" ::: "memory");  // of which GCC's tile intrinsics do not tell
  const auto* begin = reinterpret_cast<const char*>(t.a);
  const auto* b = reinterpret_cast<const char*>(t.b);
  const char* ahead = t.ahead;
  const int64_t aRow = t.aRow * 2, aStep = t.aStep * 2, below = kTileSize * aRow;
  constexpr int64_t kRight = kTileHalves * 2;
  const int64_t rowBytes = t.stride * 4;
  float *upper = t.products, *lower = t.products + kTileSize * t.stride;
  if (t.accumulate) {
    _tile_loadd(0, upper, rowBytes);
    if (kColumnTiles > 1) _tile_loadd(1, upper + kTileSize, rowBytes);
    if (kRowTiles > 1) _tile_loadd(2, lower, rowBytes);
    if (kRowTiles > 1 && kColumnTiles > 1) _tile_loadd(3, lower + kTileSize, rowBytes);
  } else {
    _tile_zero(0);
    if (kColumnTiles > 1) _tile_zero(1);
    if (kRowTiles > 1) _tile_zero(2);
    if (kRowTiles > 1 && kColumnTiles > 1) _tile_zero(3);
  }
  for (int64_t tap = 0; tap < t.tapCount; ++tap) {
    const char* a = begin + 2 * tapOf(t, tap);
    for (int64_t step = 0; step < t.steps; ++step, a += aStep, b += kStepHalves16 * 2) {
      for (int64_t run = 0; run < t.aheadRuns; ++run)
        for (int64_t line = 0; line < t.aheadLines; ++line)
          __builtin_prefetch(ahead + run * t.aheadStride + line * kLineBytes, 0, 2);
      ahead += t.aheadLines * kLineBytes;
      _tile_loadd(4, a, aRow);
      _tile_loadd(6, b, 64);
      _tile_dpbf16ps(0, 4, 6);
      if (kColumnTiles > 1) {
        _tile_loadd(7, b + kRight, 64);
        _tile_dpbf16ps(1, 4, 7);
      }
      if (kRowTiles > 1) {
        _tile_loadd(5, a + below, aRow);
        _tile_dpbf16ps(2, 5, 6);
        if (kColumnTiles > 1) _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  _tile_stored(0, upper, rowBytes);
  if (kColumnTiles > 1) _tile_stored(1, upper + kTileSize, rowBytes);
  if (kRowTiles > 1) _tile_stored(2, lower, rowBytes);
  if (kRowTiles > 1 && kColumnTiles > 1) _tile_stored(3, lower + kTileSize, rowBytes);
  asm volatile("" ::: "memory");
}

}  // namespace

CAMSHAFT_AVX512 void packBf16Rows(const float* const* from, int64_t rows, int64_t count,
                                  uint16_t* panel) {
  packRows(from, rows, count, panel);
}

CAMSHAFT_AVX512 void packBf16Rows(const uint16_t* const* from, int64_t rows, int64_t count,
                                  uint16_t* panel) {
  packRows(from, rows, count, panel);
}

CAMSHAFT_AVX512 void packBf16Matrix(const float* a, int64_t stride, int64_t rows, int64_t count,
                                    uint16_t* panel) {
  packMatrix(a, stride, rows, count, panel);
}

CAMSHAFT_AVX512 void packBf16Matrix(const uint16_t* a, int64_t stride, int64_t rows, int64_t count,
                                    uint16_t* panel) {
  packMatrix(a, stride, rows, count, panel);
}

CAMSHAFT_AVX512 void copyBf16(const float* from, int64_t count, uint16_t* to) {
  for (int64_t k = 0; k < count; k += kDepth16)
    _mm512_storeu_si512(to + k, loadHalves(from + k, count - k));
}

CAMSHAFT_AVX512 void copyBf16(const uint16_t* from, int64_t count, uint16_t* to) {
  for (int64_t k = 0; k < count; k += kDepth16)
    _mm512_storeu_si512(to + k, loadHalves(from + k, count - k));
}

CAMSHAFT_AVX512 void copyBf16Rows(const float* from, int64_t stride, int64_t rows, int64_t count,
                                  uint16_t* to) {
  copyRows(from, stride, rows, count, to);
}

CAMSHAFT_AVX512 void copyBf16Rows(const uint16_t* from, int64_t stride, int64_t rows, int64_t count,
                                  uint16_t* to) {
  copyRows(from, stride, rows, count, to);
}

void packBf16Columns(const float* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                     uint16_t* panel) {
  packColumns(b, ldb, transposed, k, columns, panel);
}

void packBf16Columns(const uint16_t* b, int64_t ldb, bool transposed, int64_t k, int64_t columns,
                     uint16_t* panel) {
  packColumns(b, ldb, transposed, k, columns, panel);
}

bool bf16UsesTiles() {
  static const bool available = hasAmx(AmxProduct::kBf16);
  return available && tilesAllowed();
}

void allowBf16Tiles(bool allowed) { tilesAllowed() = allowed; }

void multiplyBf16(const Tile16& tile) {
  const bool isLow = tile.rows <= kTileSize, isNarrow = tile.columns <= kTileSize;
  if (!bf16UsesTiles()) return isNarrow ? multiplyOnVectors<1>(tile) : multiplyOnVectors<2>(tile);
  if (isLow) return isNarrow ? multiplyOnTiles<1, 1>(tile) : multiplyOnTiles<1, 2>(tile);
  isNarrow ? multiplyOnTiles<2, 1>(tile) : multiplyOnTiles<2, 2>(tile);
}

}  // namespace camshaft::cpu

#endif
