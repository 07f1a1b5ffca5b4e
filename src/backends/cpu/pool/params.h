#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::pool {

// Along one dimension, window o has its tap k at o*stride - padBegin + k*dilation.
struct Window {
  int64_t kernel = 1, stride = 1, dilation = 1, padBegin = 0, padEnd = 0;
  int64_t start(int64_t output) const { return output * stride - padBegin; }
  bool isValid() const {
    constexpr int64_t kMost = int64_t{1} << 24;  // far from overflowing any product of two
    for (int64_t size : {kernel, stride, dilation})
      if (size < 1 || size > kMost) return false;
    for (int64_t pad : {padBegin, padEnd})
      if (pad < -kMost || pad > kMost) return false;
    return true;
  }
};

struct PoolParams {
  Window windows[2];  // H and W; a single spatial dimension is W
  int32_t spatialRank;
  int32_t average;
  int32_t countIncludePad;
  int32_t channelsLast;
  bool isValid() const {
    return (spatialRank == 1 || spatialRank == 2) && windows[0].isValid() && windows[1].isValid();
  }
};

}  // namespace camshaft::cpu::pool
