// Attention that carries a state from token to token instead of looking back.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// LinearAttention(q, k, v, past?, decay?, beta?): q is [batch, length, qHeads * keySize], k and v
// have kvHeads, each of which serves qHeads / kvHeads heads of q. Of every head of k, the state
// [keySize, valueSize] (zero without `past`, [batch, kvHeads, keySize, valueSize]) changes with
// each token t:
//   S *= exp(decay[t]), one number per head or per row     when there is decay
//   u = beta[t] * (v[t] - S^T k[t])                        when there is beta; u = v[t] without
//   S += k[t] u^T;  y[t] = scale * S^T q[t]
// Outputs: y [batch, length, qHeads * valueSize], and the last state.
struct LinearAttentionAttrs : AttrsOf<LinearAttentionAttrs> {
  int64_t qHeads = 1, kvHeads = 1;
  double scale = 1;
  void fields(AttrVisitor& visit) override {
    visit("q_heads", qHeads);
    visit("kv_heads", kvHeads);
    visit("scale", scale);
  }
};

}  // namespace camshaft
