#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::region {

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

// As ops/columns.h has them: rows, then columns.
struct DeformColumnsParams {
  int64_t kernel[2], strides[2], dilations[2], padsBegin[2];
  int64_t groups;
  bool isValid() const {
    constexpr int64_t kFar = int64_t{1} << 31;  // so that positions stay within 64 bits
    for (int i = 0; i < 2; ++i)
      if (kernel[i] < 1 || kernel[i] > kFar || strides[i] < 1 || strides[i] > kFar ||
          dilations[i] < 1 || dilations[i] > kFar || padsBegin[i] < -kFar || padsBegin[i] > kFar)
        return false;
    return groups > 0 && groups <= kFar;
  }
};

}  // namespace camshaft::cpu::region
