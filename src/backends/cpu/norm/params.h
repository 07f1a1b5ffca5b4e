#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::norm {

struct LayerNormParams {
  int32_t axis;
  int32_t rms;
  double epsilon;
  bool isValid() const { return isAxis(axis); }
};

struct GroupNormParams {
  int64_t groups;  // 0: one per channel
  int64_t channelsLast;
  double epsilon;
  bool isValid() const { return groups >= 0; }
};

struct LrnParams {
  int64_t before, after;  // channels beside one's own
  float bias, alpha, beta;
  int32_t padding = 0;
  bool isValid() const { return before >= 0 && after >= 0; }
};

}  // namespace camshaft::cpu::norm
