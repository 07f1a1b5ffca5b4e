#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::im2col {

// As ops/im2col.h has them: rows, then columns.
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

}  // namespace camshaft::cpu::im2col
