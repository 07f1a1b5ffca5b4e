#pragma once

#include <cstdint>

namespace camshaft::cpu::norm {

struct LayerNormParams {
  int32_t axis;
  int32_t rms;
  double epsilon;
};

struct GroupNormParams {
  int64_t groups;  // 0: one per channel
  int64_t channelsLast;
  double epsilon;
};

}  // namespace camshaft::cpu::norm
