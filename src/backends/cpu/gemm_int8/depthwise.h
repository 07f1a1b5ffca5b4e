// Sums of depthwise convolutions of bytes: each channel has a filter of its own.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm_int8/tile.h"

namespace camshaft::cpu::gemm_int8 {

// Pixels whose windows are summed up together.
inline constexpr int64_t kDepthwisePixels = 16;
// Of a filter, at most.
inline constexpr int64_t kMostDepthwiseTaps = 128;

// Filters lie in blocks of channels, less their zero points. Of the layout kQuads as i16,
// [taps][kBlockColumns], of Arm's as i8, [taps / 4][kBlockColumns][4 taps], filled up with zeros.
inline bool hasDepthwiseQuads(const Layout& layout) { return layout.kind != Layout::Kind::kQuads; }
inline int64_t depthwiseTaps(const Layout& layout, int64_t taps) {
  return hasDepthwiseQuads(layout) ? (taps + 3) / 4 * 4 : taps;
}
inline int64_t depthwiseBlockBytes(const Layout& layout, int64_t taps) {
  return depthwiseTaps(layout, taps) * kBlockColumns * (hasDepthwiseQuads(layout) ? 1 : 2);
}
// The number that a byte of the picture is multiplied as: of kPanels always i8.
inline int32_t depthwiseValue(const Layout& layout, bool isSigned, uint8_t byte) {
  if (layout.rowsAreSigned && !isSigned) return byte - 128;
  return isSigned ? static_cast<int8_t>(byte) : byte;
}

struct DepthwiseBlock {
  // taps[tap * kDepthwisePixels + pixel] is where the tap's channels begin.
  const uint8_t* const* taps = nullptr;
  int64_t tapCount = 0;   // depthwiseTaps() of them
  bool isSigned = false;  // bytes are i8
  int64_t channel = 0;    // of the first byte of the block
  int64_t channels = 0;   // 1 .. kBlockColumns
  const void* filters = nullptr;
  int32_t* sums = nullptr;  // [kDepthwisePixels][kBlockColumns]
};
// Of the layout kQuads.
void sumDepthwise(const DepthwiseBlock& block);
// depthwise_arm.cpp: of the layout kPairs.
void sumDepthwiseWithMixedDots(const DepthwiseBlock& block);
// depthwise_dot_arm.cpp: of the layout kPanels.
void sumDepthwiseWithDots(const DepthwiseBlock& block);

}  // namespace camshaft::cpu::gemm_int8
