// Softmax of a row of scores under its mask: the weights of the values, still to be divided by
// their sum.
#pragma once

#include <cstdint>

#include "support/boolean.h"
#include "support/half.h"

namespace camshaft::cpu::attention {

// What is added to a row of scores, or which of them count; both may be null.
struct RowMask {
  const float* added = nullptr;
  const Bool* selected = nullptr;
};

// What scores become before their softmax: scale * score, or, where softcap is not 0, softcap *
// tanh(scale * score / softcap), with the mask.
struct ScoreRule {
  float scale = 1, softcap = 0;
  RowMask mask;
};

// scores = exp(s - max s), s being what the rule makes of them. Returns their sum: 0 when the mask
// leaves none, all weights then being 0.
float weighRow(float* scores, int64_t count, const ScoreRule& rule);

// The same in bf16, as a row of a panel of the next product (gemm/tile16.h), with zeros behind them
// up to so many steps, as far as the scores' memory goes on, too. Exponentials are off by 1e-4, for
// which bf16 has no digits.
float weighRow(float* scores, int64_t count, const ScoreRule& rule, uint16_t* panelRow,
               int64_t steps);

// to = factor * row; it may be the row itself.
void scaleRow(const float* row, int64_t count, float factor, float* to);
void scaleRow(const float* row, int64_t count, float factor, BFloat16* to);

}  // namespace camshaft::cpu::attention
