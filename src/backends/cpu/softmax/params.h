#pragma once

#include <cstdint>

namespace camshaft::cpu::softmax {

struct SoftmaxParams {
  int32_t axis;
  int32_t logarithm;
};

}  // namespace camshaft::cpu::softmax
