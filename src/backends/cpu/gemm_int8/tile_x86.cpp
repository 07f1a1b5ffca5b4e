// Blocks on vectors of 256 and 512 bits, with and without vpdpbusd, and on tiles of AMX.
#include "backends/cpu/gemm_int8/tile.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "backends/cpu/gemm/partition.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr int64_t kStepQuads = kQuads.depth / 4;
// Of k at a time, whose rows and columns stay in L1.
constexpr int64_t kPartQuads = 64;

// Where the quads of a vector of columns begin in a step of a block.
constexpr int64_t placeOf(int64_t column) {
  return column / 16 * 16 * kQuads.depth + column % 16 * 4;
}

// Calls run(a, count, sums) for at most kRows rows of a strip at a time.
template <int64_t kRows, class Run>
void forRows(const Block& block, const Run& run) {
  for (int64_t row = 0; row < block.rows; row += kQuads.stripRows) {
    const uint8_t* strip = block.a + row / kQuads.stripRows * kQuads.stripBytes(block.k);
    const int64_t rows = std::min(kQuads.stripRows, block.rows - row);
    const int64_t groups = ceilDiv(rows, kRows);
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t begin = rows * group / groups, end = rows * (group + 1) / groups;
      run(strip + begin * kQuads.depth, end - begin, block.sums + (row + begin) * kBlockColumns);
    }
  }
}

// The next block of B, so many lines of it or more at each step, while this one is multiplied.
template <int64_t kLines>
struct Fetch {
  static constexpr int64_t kLine = 64, kUnit = kLine * kLines;
  const char* at;
  int64_t bytes;  // at each step, whole units

  // By so many passes of so many steps.
  Fetch(const Block& block, int64_t passes, int64_t steps) : at(block.next), bytes(0) {
    if (block.nextBytes > 0)
      bytes = ceilDiv(block.nextBytes, std::max<int64_t>(1, passes * steps) * kUnit) * kUnit;
  }

  void step() {
    for (int64_t done = 0; done < bytes; done += kUnit, at += kUnit)
#pragma GCC unroll 8
      for (int64_t i = 0; i < kLines; ++i) _mm_prefetch(at + i * kLine, _MM_HINT_T1);
  }
};

// Where a block's row begins.
inline const uint8_t* rowOf(const Block& block, int64_t row) {
  if (block.rowStride) return block.a + row * block.rowStride;
  const int64_t strip = row / kQuads.stripRows;
  return block.a + strip * kQuads.stripBytes(block.k) + row % kQuads.stripRows * kQuads.depth;
}

// How rows go on from there.
struct RowParts {
  const int64_t* at;  // pairs of bytes
  int64_t count, quads;
  int64_t betweenSteps;  // bytes from one step of a part to the next, beside its own

  explicit RowParts(const Block& block) {
    static constexpr int64_t kAtOnce = 0;
    const bool areStrips = !block.scattered && !block.rowStride;
    at = areStrips || !block.taps ? &kAtOnce : block.taps;
    count = areStrips ? 1 : block.tapCount;
    quads = count == 1 ? ceilDiv(block.k, 4) : ceilDiv(block.k, 4 * count);
    betweenSteps = areStrips ? (kQuads.stripRows - 1) * kQuads.depth : 0;
  }
};

#define CAMSHAFT_INLINE CAMSHAFT_TARGET inline __attribute__((always_inline))

#define CAMSHAFT_TARGET __attribute__((target("avx2")))

namespace avx2 {

using Ints = __m256i;
constexpr int64_t kRows = 8;
CAMSHAFT_INLINE Ints zero() { return _mm256_setzero_si256(); }
CAMSHAFT_INLINE Ints load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
CAMSHAFT_INLINE void store(void* to, Ints v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
CAMSHAFT_INLINE Ints repeated(const void* quad) {
  return _mm256_castps_si256(_mm256_broadcast_ss(static_cast<const float*>(quad)));
}
CAMSHAFT_INLINE Ints addDots(Ints sum, Ints a, Ints b) {
  const Ints pairs = _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1));
  return _mm256_add_epi32(sum, pairs);
}
CAMSHAFT_INLINE Ints addWords(Ints sum, Ints a, Ints b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
CAMSHAFT_INLINE Ints evenBytes(Ints a) { return _mm256_and_si256(a, _mm256_set1_epi16(0xff)); }
CAMSHAFT_INLINE Ints oddBytes(Ints a) { return _mm256_srli_epi16(a, 8); }
CAMSHAFT_INLINE Ints evenWeights(Ints b) { return _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8); }
CAMSHAFT_INLINE Ints oddWeights(Ints b) { return _mm256_srai_epi16(b, 8); }
CAMSHAFT_INLINE Ints largerOf(Ints a, Ints b) { return _mm256_max_epu8(a, b); }
CAMSHAFT_INLINE bool hasPairBeyond(Ints b, int bound) {
  const Ints pairs = _mm256_abs_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), b));
  const Ints beyond = _mm256_cmpgt_epi16(pairs, _mm256_set1_epi16(static_cast<int16_t>(bound)));
  return _mm256_movemask_epi8(beyond) != 0;
}
#include "backends/cpu/gemm_int8/tile_pairs-inl.h"

}  // namespace avx2

#undef CAMSHAFT_TARGET
#define CAMSHAFT_TARGET __attribute__((target("avx2,avxvnni")))

namespace avx_vnni {

using avx2::Ints, avx2::load, avx2::repeated, avx2::store, avx2::zero;
constexpr int64_t kSums = 12;  // of 16 registers
CAMSHAFT_INLINE Ints addDots(Ints sum, Ints a, Ints b) {
  return _mm256_dpbusd_avx_epi32(sum, a, b);
}
#include "backends/cpu/gemm_int8/tile_quads-inl.h"

}  // namespace avx_vnni

#undef CAMSHAFT_TARGET
#define CAMSHAFT_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))

namespace avx512 {

using Ints = __m512i;
constexpr int64_t kRows = 16;
CAMSHAFT_INLINE Ints zero() { return _mm512_setzero_si512(); }
CAMSHAFT_INLINE Ints load(const void* from) { return _mm512_loadu_si512(from); }
CAMSHAFT_INLINE void store(void* to, Ints v) { _mm512_storeu_si512(to, v); }
CAMSHAFT_INLINE Ints repeated(const void* quad) {
  int32_t bytes;
  std::memcpy(&bytes, quad, sizeof bytes);
  return _mm512_set1_epi32(bytes);
}
CAMSHAFT_INLINE Ints addDots(Ints sum, Ints a, Ints b) {
  const Ints pairs = _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1));
  return _mm512_add_epi32(sum, pairs);
}
CAMSHAFT_INLINE Ints addWords(Ints sum, Ints a, Ints b) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
CAMSHAFT_INLINE Ints evenBytes(Ints a) { return _mm512_and_si512(a, _mm512_set1_epi16(0xff)); }
CAMSHAFT_INLINE Ints oddBytes(Ints a) { return _mm512_srli_epi16(a, 8); }
CAMSHAFT_INLINE Ints evenWeights(Ints b) { return _mm512_srai_epi16(_mm512_slli_epi16(b, 8), 8); }
CAMSHAFT_INLINE Ints oddWeights(Ints b) { return _mm512_srai_epi16(b, 8); }
CAMSHAFT_INLINE Ints largerOf(Ints a, Ints b) { return _mm512_max_epu8(a, b); }
CAMSHAFT_INLINE bool hasPairBeyond(Ints b, int bound) {
  const Ints pairs = _mm512_abs_epi16(_mm512_maddubs_epi16(_mm512_set1_epi8(1), b));
  return _mm512_cmpgt_epi16_mask(pairs, _mm512_set1_epi16(static_cast<int16_t>(bound))) != 0;
}
#include "backends/cpu/gemm_int8/tile_pairs-inl.h"

}  // namespace avx512

#undef CAMSHAFT_TARGET
#define CAMSHAFT_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace avx512_vnni {

using avx512::Ints, avx512::load, avx512::repeated, avx512::store, avx512::zero;
constexpr int64_t kSums = 24;  // of 32 registers
CAMSHAFT_INLINE Ints addDots(Ints sum, Ints a, Ints b) { return _mm512_dpbusd_epi32(sum, a, b); }
#include "backends/cpu/gemm_int8/tile_quads-inl.h"

}  // namespace avx512_vnni

#undef CAMSHAFT_TARGET
#undef CAMSHAFT_INLINE

#define CAMSHAFT_AMX __attribute__((target("amx-tile,amx-int8")))

// Below this many rows, looking at the columns costs more than it saves.
constexpr int64_t kPairRows = 6;

constexpr int64_t kStripRows = kQuads.stripRows, kTileBytes = kStripRows * kQuads.depth;

// Where rows of A lie.
struct Rows {
  const uint8_t* at;
  int64_t rowStep, tileStep, stripStep;
  const int64_t* taps;
  int64_t tapCount, tapSteps;

  static Rows of(const Block& block) {
    static constexpr int64_t kAtOnce = 0;
    const int64_t steps = kQuads.steps(block.k);
    if (!block.rowStride)
      return {block.a, kQuads.depth, kTileBytes, kQuads.stripBytes(block.k), &kAtOnce, 1, steps};
    return {block.a,
            block.rowStride,
            kQuads.depth,
            kStripRows * block.rowStride,
            block.taps ? block.taps : &kAtOnce,
            block.tapCount,
            steps / block.tapCount};
  }
  const uint8_t* tap(int64_t i) const { return at + 2 * taps[i]; }
};

// What tiles are loaded from must be in cache, since few loads are under way at a time.
using FetchForTiles = Fetch<8>;

CAMSHAFT_AMX void multiplyOneStrip(const Rows& a, const int8_t* b, int32_t* sums,
                                   FetchForTiles fetch) {
  constexpr int64_t kRowBytes = kBlockColumns * 4;
  _tile_zero(0);
  _tile_zero(1);
  for (int64_t tap = 0; tap < a.tapCount; ++tap) {
    const uint8_t* at = a.tap(tap);
    for (int64_t i = 0; i < a.tapSteps; ++i, at += a.tileStep, b += 2 * kTileBytes) {
      _tile_loadd(4, at, a.rowStep);
      _tile_loadd(6, b, 64);
      _tile_loadd(7, b + kTileBytes, 64);
      fetch.step();
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(1, 4, 7);
    }
  }
  _tile_stored(0, sums, kRowBytes);
  _tile_stored(1, sums + 16, kRowBytes);
}

CAMSHAFT_AMX void multiplyTwoStrips(const Rows& a, const int8_t* b, int32_t* sums,
                                    FetchForTiles fetch) {
  constexpr int64_t kRowBytes = kBlockColumns * 4;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t tap = 0; tap < a.tapCount; ++tap) {
    const uint8_t* at = a.tap(tap);
    for (int64_t i = 0; i < a.tapSteps; ++i, at += a.tileStep, b += 2 * kTileBytes) {
      _tile_loadd(4, at, a.rowStep);
      _tile_loadd(6, b, 64);
      _tile_loadd(7, b + kTileBytes, 64);
      _tile_loadd(5, at + a.stripStep, a.rowStep);
      fetch.step();
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(1, 4, 7);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    }
  }
  _tile_stored(0, sums, kRowBytes);
  _tile_stored(1, sums + 16, kRowBytes);
  _tile_stored(2, sums + 16 * kBlockColumns, kRowBytes);
  _tile_stored(3, sums + 16 * kBlockColumns + 16, kRowBytes);
}

}  // namespace

void multiplyWithTiles(const Block& block) {
  const int64_t steps = kQuads.steps(block.k);
  FetchForTiles fetch(block, ceilDiv(block.rows, 2 * kStripRows), steps);
  Rows a = Rows::of(block);
  for (int64_t row = 0; row < block.rows; row += 2 * kStripRows, a.at += 2 * a.stripStep) {
    const auto multiply = block.rows - row > kStripRows ? multiplyTwoStrips : multiplyOneStrip;
    multiply(a, block.b, block.sums + row * kBlockColumns, fetch);
    fetch.at += steps * fetch.bytes;
  }
}

void multiplyWithVnni(const Block& block) {
  block.blocks == 2 ? avx512_vnni::multiplyByVectors<4>(block)
                    : avx512_vnni::multiplyByVectors<2>(block);
}
void multiplyWithAvxVnni(const Block& block) { avx_vnni::multiplyByVectors<2>(block); }
void multiplyWithAvx512(const Block& block) {
  block.rows < kPairRows ? multiplyWithVectors(block) : avx512::multiplyParts(block);
}
void multiplyWithAvx2(const Block& block) {
  block.rows < kPairRows ? multiplyWithVectors(block) : avx2::multiplyParts(block);
}

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

// Never called where CPUs have none of them.
void multiplyWithAvx2(const Block&) {}
void multiplyWithAvx512(const Block&) {}
void multiplyWithAvxVnni(const Block&) {}
void multiplyWithVnni(const Block&) {}
void multiplyWithTiles(const Block&) {}

}  // namespace camshaft::cpu::gemm_int8

#endif
