// Sums of convolutions of bytes whose groups have few channels: lanes are output channels, each of
// which finds four channels of its group at a time.
#pragma once

#include <algorithm>
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

// Where the groups of output channels begin; behind the last channel its group goes on.
class GroupBegins {
 public:
  GroupBegins(const ConvParams& params, int64_t filters)
      : each_(static_cast<uint32_t>(filters / params.groups)),
        channels_(static_cast<int32_t>(params.channels / params.groups)),
        last_(static_cast<int32_t>(params.channels) - channels_) {}

  int32_t at(int64_t channel) const {
    return std::min(last_,
                    static_cast<int32_t>(static_cast<uint32_t>(channel) / each_) * channels_);
  }
  // Of a block's columns, from this channel on, by one division for all of them.
  void find(int64_t channel, int32_t (&firsts)[kBlockColumns]) const {
    uint32_t left = each_ - static_cast<uint32_t>(channel) % each_;
    int32_t first = at(channel);
    for (int32_t& each : firsts) {
      each = first;
      if (--left > 0) continue;
      left = each_;
      first = std::min(last_, first + channels_);
    }
  }

 private:
  uint32_t each_;
  int32_t channels_, last_;
};

}  // namespace camshaft::cpu::gemm_int8
