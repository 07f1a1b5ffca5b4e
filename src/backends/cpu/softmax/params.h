#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::softmax {

struct SoftmaxParams {
  int32_t axis;
  int32_t logarithm;
  bool isValid() const { return isAxis(axis); }
};

}  // namespace camshaft::cpu::softmax
