#include "backends/cpu/simd/amx_tiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#define CAMSHAFT_AMX __attribute__((target("amx-tile")))

namespace camshaft::cpu {

namespace {

// Palette 1. Constant memory, since the intrinsic does not tell the compiler that it reads all of
// it.
struct alignas(64) TileConfig {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
const TileConfig kTileConfig;

}  // namespace

bool hasAmx(AmxProduct product) {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;
  const unsigned needed = kTile | (product == AmxProduct::kBf16 ? kBf16 : kInt8);
  if ((d & needed) != needed) return false;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

CAMSHAFT_AMX void configureTiles() { _tile_loadconfig(&kTileConfig); }
CAMSHAFT_AMX void releaseTiles() { _tile_release(); }

}  // namespace camshaft::cpu

#else

namespace camshaft::cpu {

bool hasAmx(AmxProduct) { return false; }
void configureTiles() {}
void releaseTiles() {}

}  // namespace camshaft::cpu

#endif
