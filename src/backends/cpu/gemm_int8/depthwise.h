// Sums of depthwise convolutions of bytes: each channel has a filter of its own.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm_int8/tile.h"

namespace camshaft::cpu::gemm_int8 {

// Pixels whose windows are summed up together.
inline constexpr int64_t kDepthwisePixels = 8;
// Of a filter, at most.
inline constexpr int64_t kMostDepthwiseTaps = 128;

// Filters lie as i16, less their zero points, in blocks of channels: [taps][kBlockColumns].
inline int64_t depthwiseBlockValues(int64_t taps) { return taps * kBlockColumns; }

struct DepthwiseBlock {
  // taps[tap * kDepthwisePixels + pixel] is where the tap's channels begin.
  const uint8_t* const* taps = nullptr;
  int64_t tapCount = 0;
  bool isSigned = false;  // bytes are i8
  int64_t channel = 0;    // of the first byte of the block
  int64_t channels = 0;   // 1 .. kBlockColumns
  const int16_t* filters = nullptr;
  int32_t* sums = nullptr;  // [kDepthwisePixels][kBlockColumns]
};
void sumDepthwise(const DepthwiseBlock& block);

}  // namespace camshaft::cpu::gemm_int8
