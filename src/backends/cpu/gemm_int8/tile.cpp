#include "backends/cpu/gemm_int8/tile.h"

#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "backends/cpu/simd/isa.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#define CAMSHAFT_HAS_X86_TILES 1
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr Multiplier kVectors{"vectors", &kQuads, multiplyWithVectors};

}  // namespace

#ifdef CAMSHAFT_HAS_X86_TILES

#define CAMSHAFT_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define CAMSHAFT_AMX __attribute__((target("amx-tile,amx-int8")))

namespace {

constexpr int64_t kDepth = kQuads.depth, kStripRows = kQuads.stripRows;
constexpr int64_t kTileBytes = kStripRows * kDepth;

bool hasVnni() {
  static const bool available = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
  }();
  return available;
}

bool hasTiles() {
  static const bool available = hasVnni() && hasAmx(AmxProduct::kInt8);
  return available;
}

constexpr int64_t kVnniRows = 8;

// Up to eight rows of a strip by the 32 columns of the block.
template <int kRows>
CAMSHAFT_VNNI void multiplyRows(const uint8_t* a, const int8_t* b, int64_t k, int32_t* sums) {
  __m512i left[kRows], right[kRows];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) left[i] = right[i] = _mm512_setzero_si512();
  for (int64_t done = 0; done < k; done += kDepth, a += kTileBytes, b += 2 * kTileBytes) {
    const int64_t quads = std::min<int64_t>(kDepth, k - done + 3) / 4;
    for (int64_t q = 0; q < quads; ++q) {
      const __m512i bLeft = _mm512_loadu_si512(b + q * 64);
      const __m512i bRight = _mm512_loadu_si512(b + kTileBytes + q * 64);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        int32_t quad;
        __builtin_memcpy(&quad, a + i * kDepth + q * 4, 4);
        const __m512i broadcast = _mm512_set1_epi32(quad);
        left[i] = _mm512_dpbusd_epi32(left[i], broadcast, bLeft);
        right[i] = _mm512_dpbusd_epi32(right[i], broadcast, bRight);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    _mm512_storeu_si512(sums + i * kBlockColumns, left[i]);
    _mm512_storeu_si512(sums + i * kBlockColumns + 16, right[i]);
  }
}

using RowsFunction = void (*)(const uint8_t*, const int8_t*, int64_t, int32_t*);
constexpr RowsFunction kRowsFunctions[kVnniRows] = {
    multiplyRows<1>, multiplyRows<2>, multiplyRows<3>, multiplyRows<4>,
    multiplyRows<5>, multiplyRows<6>, multiplyRows<7>, multiplyRows<8>};

void multiplyWithVnni(const Block& block) {
  for (int64_t row = 0; row < block.rows; row += kVnniRows) {
    const int64_t rows = std::min(kVnniRows, block.rows - row);
    const uint8_t* a =
        block.a + row / kStripRows * kQuads.stripBytes(block.k) + row % kStripRows * kDepth;
    kRowsFunctions[rows - 1](a, block.b, block.k, block.sums + row * kBlockColumns);
  }
}

// The next block of B, a part of it at each step: what tiles are loaded from must be in cache,
// since few loads are under way at a time.
struct Fetch {
  static constexpr int64_t kLine = 64, kLines = 8;
  const char* at;
  int64_t bytes;  // at each step, whole kLines lines

  void step() {
    for (int64_t done = 0; done < bytes; done += kLines * kLine, at += kLines * kLine)
#pragma GCC unroll 8
      for (int64_t i = 0; i < kLines; ++i) _mm_prefetch(at + i * kLine, _MM_HINT_T1);
  }
};

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
      return {block.a, kDepth, kTileBytes, kQuads.stripBytes(block.k), &kAtOnce, 1, steps};
    return {block.a,
            block.rowStride,
            kDepth,
            kStripRows * block.rowStride,
            block.taps ? block.taps : &kAtOnce,
            block.tapCount,
            steps / block.tapCount};
  }
  const uint8_t* tap(int64_t i) const { return at + 2 * taps[i]; }
};

CAMSHAFT_AMX void multiplyOneStrip(const Rows& a, const int8_t* b, int32_t* sums, Fetch fetch) {
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

CAMSHAFT_AMX void multiplyTwoStrips(const Rows& a, const int8_t* b, int32_t* sums, Fetch fetch) {
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

void multiplyWithTiles(const Block& block) {
  const int64_t steps = std::max<int64_t>(1, kQuads.steps(block.k));
  const int64_t passes = ceilDiv(block.rows, 2 * kStripRows);
  constexpr int64_t kUnit = Fetch::kLines * Fetch::kLine;
  Fetch fetch{reinterpret_cast<const char*>(block.next),
              ceilDiv(block.nextBytes, steps * passes * kUnit) * kUnit};
  Rows a = Rows::of(block);
  for (int64_t row = 0; row < block.rows; row += 2 * kStripRows, a.at += 2 * a.stripStep) {
    const auto multiply = block.rows - row > kStripRows ? multiplyTwoStrips : multiplyOneStrip;
    multiply(a, block.b, block.sums + row * kBlockColumns, fetch);
    fetch.at += steps * fetch.bytes;
  }
}

constexpr Multiplier kVnni{"vnni", &kQuads, multiplyWithVnni};
constexpr Multiplier kTiles{"tiles", &kQuads, multiplyWithTiles, true};
// Below this many rows, tiles are mostly empty.
constexpr int64_t kTileRows = 5;

}  // namespace

const Layout& layoutInUse() { return kQuads; }
const Layout& depthwiseLayoutInUse() { return isaName() == "avx512" && hasVnni() ? kTaps : kQuads; }
const Layout* layoutOf(Layout::Kind kind) {
  if (kind == Layout::Kind::kTaps && hasVnni()) return &kTaps;
  return kind == Layout::Kind::kQuads ? &kQuads : nullptr;
}

const Multiplier& multiplierFor(const Layout&, int64_t rows) {
  if (isaName() != "avx512" || !hasVnni()) return kVectors;
  return rows >= kTileRows && hasTiles() ? kTiles : kVnni;
}

std::vector<Multiplier> availableMultipliers() {
  std::vector<Multiplier> all{kVectors};
  if (hasVnni()) all.push_back(kVnni);
  if (hasTiles()) all.push_back(kTiles);
  return all;
}

TileScope::TileScope(const Multiplier& multiplier) : active_(multiplier.usesTiles) {
  if (active_) configureTiles();
}
TileScope::~TileScope() {
  if (active_) releaseTiles();
}

#else

namespace {

constexpr Multiplier kI8mm{"i8mm", &kPairs, multiplyWithI8mm};
constexpr Multiplier kDots{"dots", &kPanels, multiplyWithDots};

#if defined(__aarch64__) && defined(__linux__)
bool hasI8mm() {
  constexpr unsigned long kHwcap2I8mm = 1ul << 13;
  static const bool available = (getauxval(AT_HWCAP2) & kHwcap2I8mm) != 0;
  return available;
}
bool hasDots() {
  constexpr unsigned long kHwcapAsimdDp = 1ul << 20;
  static const bool available = (getauxval(AT_HWCAP) & kHwcapAsimdDp) != 0;
  return available;
}
#else
bool hasI8mm() { return false; }
bool hasDots() { return false; }
#endif

}  // namespace

const Layout& layoutInUse() {
  if (isaName() != "neon") return kQuads;
  return hasI8mm() ? kPairs : hasDots() ? kPanels : kQuads;
}
const Layout& depthwiseLayoutInUse() { return layoutInUse(); }
const Layout* layoutOf(Layout::Kind kind) {
  if (kind == Layout::Kind::kQuads) return &kQuads;
  if (kind == Layout::Kind::kPairs && hasI8mm()) return &kPairs;
  return kind == Layout::Kind::kPanels && hasDots() ? &kPanels : nullptr;
}

const Multiplier& multiplierFor(const Layout& layout, int64_t) {
  if (layout.kind == Layout::Kind::kPairs) return kI8mm;
  return layout.kind == Layout::Kind::kPanels ? kDots : kVectors;
}
std::vector<Multiplier> availableMultipliers() {
  std::vector<Multiplier> all{kVectors};
  if (hasDots()) all.push_back(kDots);
  if (hasI8mm()) all.push_back(kI8mm);
  return all;
}
TileScope::TileScope(const Multiplier&) : active_(false) {}
TileScope::~TileScope() = default;

#endif

}  // namespace camshaft::cpu::gemm_int8
