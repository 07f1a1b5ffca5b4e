// The fixed head of an engine file; sections follow at 64-byte-aligned offsets.
#pragma once

#include <cstdint>

namespace camshaft {

inline constexpr uint64_t kEngineMagic = 0x54464148534d4143;  // "CAMSHAFT", little-endian
inline constexpr uint32_t kEngineFormat = 3;
inline constexpr uint64_t kSectionAlignment = 64;

struct EngineSection {
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct EngineHeader {
  uint64_t magic = kEngineMagic;
  uint32_t format = kEngineFormat;
  uint32_t headerBytes = 128;
  uint64_t fileBytes = 0;
  uint64_t hash = 0;  // of the whole file with this field zero
  EngineSection plan, weights, inspection;
  EngineSection refit, sources;  // empty in engines that cannot be refitted
  uint64_t reserved[2] = {};
};
static_assert(sizeof(EngineHeader) == 128);

}  // namespace camshaft
