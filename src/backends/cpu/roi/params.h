#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::roi {

// As ops/roi.h has them.
struct RoiAlignParams {
  double scale;
  int32_t height, width;
  int32_t samplingRatio;
  int32_t isMax;
  int32_t halfPixel;
  int32_t padding = 0;
  // More samples than that would only keep a run from ending.
  bool isValid() const {
    return height > 0 && width > 0 && samplingRatio >= 0 && samplingRatio <= 4096;
  }
};

}  // namespace camshaft::cpu::roi
