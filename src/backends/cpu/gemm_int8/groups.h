// Sums of convolutions of bytes whose groups have few channels: lanes are output channels, each of
// which finds four channels of its group at a time.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/tile.h"

namespace camshaft::cpu::gemm_int8 {

// Whether there are kernels for such groups: whole quads of channels, and as many as four filters
// or so, which lie in a vector of the picture together.
bool groupsSupported(const Layout& layout, const ConvParams& params, int64_t filters);

// Filters lie in blocks of output channels, less their zero points, as i8: [taps][quads of a
// group's channels][kBlockColumns][4 channels], filled up with zeros.
inline int64_t groupBlockBytes(const ConvParams& params) {
  return params.kernel[0] * params.kernel[1] * (params.channels / params.groups) * kBlockColumns;
}

struct GroupBlock {
  // taps[tap * kDepthwisePixels + pixel] is where the tap's channels begin.
  const uint8_t* const* taps = nullptr;
  int64_t tapCount = 0, quads = 0;
  bool isSigned = false;  // bytes are i8
  // Of each column, where among a pixel's channels those of its group begin.
  int32_t firsts[kBlockColumns];
  const int8_t* filters = nullptr;
  int32_t* sums = nullptr;  // [kDepthwisePixels][kBlockColumns]
};
// depthwise_x86.cpp: of the layout kTaps.
void sumGroupsWithAvx2(const GroupBlock& block);
void sumGroupsWithAvxVnni(const GroupBlock& block);
void sumGroupsWithVnni(const GroupBlock& block);
// depthwise_arm.cpp: of the layout kPairs.
void sumGroupsWithMixedDots(const GroupBlock& block);
// depthwise_dot_arm.cpp: of the layout kPanels.
void sumGroupsWithDots(const GroupBlock& block);

// Where the group of an output channel begins; behind the last one its group goes on.
inline int64_t groupBegin(const ConvParams& params, int64_t filters, int64_t channel) {
  const int64_t each = filters / params.groups;
  const int64_t group = channel < filters ? channel / each : params.groups - 1;
  return group * (params.channels / params.groups);
}

}  // namespace camshaft::cpu::gemm_int8
