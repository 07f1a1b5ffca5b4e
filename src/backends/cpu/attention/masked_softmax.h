// Softmax of a row of scores under its mask: the weights of the values, still to be divided by
// their sum.
#pragma once

#include <cstdint>

#include "support/boolean.h"

namespace camshaft::cpu::attention {

// What is added to a row of scores, or which of them count; both may be null.
struct RowMask {
  const float* added = nullptr;
  const Bool* selected = nullptr;
};

// scores = exp(s - max s), s being softcap * tanh(scores / softcap) (as they are when softcap is 0)
// with the mask. Returns their sum: 0 when the mask leaves none, all weights then being 0.
float weighRow(float* scores, int64_t count, float softcap, const RowMask& mask);

void scaleRow(float* row, int64_t count, float factor);

}  // namespace camshaft::cpu::attention
