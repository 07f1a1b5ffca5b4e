// Scaled dot-product attention.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// Attention(q, k, v, mask?): softmax(scale * q kT + mask) v over [batch, heads, length, size].
// k and v may have fewer heads (grouped queries: heads % kvHeads == 0). The mask is added when
// floating and selects when bool; it broadcasts to [batch, heads, qLength, kLength]. Causal: query
// i sees keys up to i + kLength - qLength when alignEnd, up to i otherwise.
struct AttentionAttrs : AttrsOf<AttentionAttrs> {
  double scale = 1;
  bool causal = false;
  bool alignEnd = false;
  double softcap = 0;  // 0: none; else scores become softcap * tanh(scores / softcap)
  bool transposedKeys = false;  // k is [batch, heads, size, length]
  void fields(AttrVisitor& visit) override {
    visit("scale", scale);
    visit("causal", causal);
    visit("align_end", alignEnd);
    visit("softcap", softcap);
    visit("transposed_keys", transposedKeys);
  }
};

}  // namespace camshaft
