// Sums of depthwise convolutions of bytes: each channel has a filter of its own.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/tile.h"

namespace camshaft::cpu::gemm_int8 {

// Pixels whose windows are summed up together.
inline constexpr int64_t kDepthwisePixels = 16;
// Of a filter, at most.
inline constexpr int64_t kMostDepthwiseTaps = 128;

// Filters lie in blocks of channels, less their zero points. Of the layout kQuads as i16,
// [taps][kBlockColumns], of the others as i8, [taps / 4][kBlockColumns][4 taps], filled up with
// zeros. kTaps has channels in the order in which pairs of bytes are unpacked, quadPlace().
inline bool hasDepthwiseQuads(const Layout& layout) { return layout.kind != Layout::Kind::kQuads; }

// In which order taps follow each other: line by line, or column by column, each filled up to whole
// quads, which the windows of neighbours then share.
struct TapOrder {
  int64_t height, width;
  int64_t columnTaps = 0;  // 0: line by line
  int64_t count;           // filled up

  // Line by line, not filled up.
  explicit TapOrder(const ConvParams& params)
      : height(params.kernel[0]), width(params.kernel[1]), count(height * width) {}
  TapOrder(const Layout& layout, const ConvParams& params) : TapOrder(params) {
    if (!hasDepthwiseQuads(layout)) return;
    count = (count + 3) / 4 * 4;
    const int64_t column = (height + 3) / 4 * 4;
    if (layout.kind != Layout::Kind::kTaps || params.strides[1] != 1 || params.dilations[1] != 1 ||
        column * width > kMostDepthwiseTaps)
      return;
    // Instructions for four pixels: eight to join four taps, four to multiply them.
    const int64_t joined = column / 4 * ((width + 3) * 8 + 4 * width * 4), apart = count * 12;
    if (joined >= apart) return;
    columnTaps = column;
    count = column * width;
  }
  int64_t at(int64_t ky, int64_t kx) const {
    return columnTaps ? kx * columnTaps + ky : ky * width + kx;
  }
};

inline int64_t depthwiseBlockBytes(const Layout& layout, const TapOrder& order) {
  return order.count * kBlockColumns * (hasDepthwiseQuads(layout) ? 1 : 2);
}
// Where the four taps of a channel begin among those of its block.
inline int64_t quadPlace(const Layout& layout, int64_t channel) {
  if (layout.kind != Layout::Kind::kTaps) return channel * 4;
  return channel % 16 / 4 * 32 + channel / 16 * 16 + channel % 4 * 4;
}
// The number that a byte of the picture is multiplied as: of kPanels always i8, of kTaps u8.
inline int32_t depthwiseValue(const Layout& layout, bool isSigned, uint8_t byte) {
  if (layout.rowsAreSigned && !isSigned) return byte - 128;
  if (layout.kind == Layout::Kind::kTaps && isSigned) return byte ^ 0x80;
  return isSigned ? static_cast<int8_t>(byte) : byte;
}

struct DepthwiseBlock {
  // taps[tap * kDepthwisePixels + pixel] is where the tap's channels begin.
  const uint8_t* const* taps = nullptr;
  int64_t tapCount = 0;    // TapOrder::count
  int64_t columnTaps = 0;  // TapOrder's
  // Whether four pixels are neighbours, of which each reads but for one column what the one before
  // it does.
  bool shares[kDepthwisePixels / 4] = {};
  bool isSigned = false;  // bytes are i8
  int64_t channel = 0;    // of the first byte of the block
  int64_t channels = 0;   // 1 .. kBlockColumns
  const void* filters = nullptr;
  int32_t* sums = nullptr;  // [kDepthwisePixels][kBlockColumns]
};
// Of the layout kQuads.
void sumDepthwise(const DepthwiseBlock& block);
// depthwise_x86.cpp: of the layout kTaps.
void sumDepthwiseWithAvx2(const DepthwiseBlock& block);
void sumDepthwiseWithAvxVnni(const DepthwiseBlock& block);
void sumDepthwiseWithVnni(const DepthwiseBlock& block);
// depthwise_arm.cpp: of the layout kPairs.
void sumDepthwiseWithMixedDots(const DepthwiseBlock& block);
// depthwise_dot_arm.cpp: of the layout kPanels.
void sumDepthwiseWithDots(const DepthwiseBlock& block);

}  // namespace camshaft::cpu::gemm_int8
