#include "backends/cpu/gemm_int8/tile.h"

#include <algorithm>

#include "backends/cpu/simd/amx_tiles.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/vnni.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace camshaft::cpu::gemm_int8 {

namespace {

constexpr Multiplier kVectors{"vectors", &kQuads, multiplyWithVectors};

}  // namespace

#if defined(__x86_64__)

namespace {

constexpr Multiplier kAvx2{"avx2", &kQuads, multiplyWithAvx2};
constexpr Multiplier kAvx512{"avx512", &kQuads, multiplyWithAvx512};
constexpr Multiplier kAvxVnni{"avx-vnni", &kQuads, multiplyWithAvxVnni, false, true, 6};
constexpr Multiplier kVnni{"vnni", &kQuads, multiplyWithVnni, false, true, 12, 2};
constexpr Multiplier kTiles{"tiles", &kQuads, multiplyWithTiles, true};
// Below this many rows, tiles are mostly empty.
constexpr int64_t kTileRows = 5;

bool hasTiles() {
  static const bool available = hasVnni(Vnni::kAvx512) && hasAmx(AmxProduct::kInt8);
  return available;
}
bool takesTaps() { return isaName() == "avx512" || isaName() == "avx2"; }

}  // namespace

const Layout& layoutInUse() { return kQuads; }
const Layout& depthwiseLayoutInUse() { return takesTaps() ? kTaps : kQuads; }
const Layout* layoutOf(Layout::Kind kind) {
  if (kind == Layout::Kind::kTaps && takesTaps()) return &kTaps;
  return kind == Layout::Kind::kQuads ? &kQuads : nullptr;
}

const Multiplier& multiplierFor(const Layout&, int64_t rows) {
  switch (vnniInUse()) {
    case Vnni::kNone:
      return isaName() == "avx512" ? kAvx512 : isaName() == "avx2" ? kAvx2 : kVectors;
    case Vnni::kAvx:
      return kAvxVnni;
    case Vnni::kAvx512:
      break;
  }
  return rows >= kTileRows && hasTiles() ? kTiles : kVnni;
}

std::vector<Multiplier> availableMultipliers() {
  std::vector<Multiplier> all{kVectors};
  const std::vector<std::string_view> isas = availableIsas();
  if (std::ranges::count(isas, "avx2")) all.push_back(kAvx2);
  if (std::ranges::count(isas, "avx512")) all.push_back(kAvx512);
  if (hasVnni(Vnni::kAvx)) all.push_back(kAvxVnni);
  if (hasVnni(Vnni::kAvx512)) all.push_back(kVnni);
  if (hasTiles()) all.push_back(kTiles);
  return all;
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

#endif

}  // namespace camshaft::cpu::gemm_int8
