// Scaled dot-product attention, attention that carries a state from token to token instead of
// looking back, and attention to few points.
#pragma once

#include "ops/ops.h"
#include "support/token_windows.h"

namespace camshaft {

// Attention(q, k, v, mask?): softmax(scale * q kT + mask) v over [batch, heads, length, size].
// k and v may have fewer heads (grouped queries: heads % kvHeads == 0). The mask is added when
// floating and selects when bool; it broadcasts to [batch, heads, qLength, kLength]. Causal: query
// i sees keys up to i + kLength - qLength when alignEnd, up to i otherwise.
//
// With `heads` given, operands of rank 3 are tokens, [batch, length, width], as matrix products
// leave them: the heads of one token stand side by side from column offsets[operand] on, so that q,
// k and v may be parts of one tensor. The result is tokens too, [batch, length, heads * valueSize].
// Operands of rank 4 (a cache of keys) stay as above.
//
// Keys and values of rank 4, not transposed, may both be i8 or f8e4m3: they are the numbers they
// hold, as in a cache of 8 bits whose scales are part of q and of what is made of the result.
//
// With `maskBatches` given, the mask broadcasts to so many batches, and batch i reads that of
// i % maskBatches, as windows of images do.
//
// With `windows` given, operands and the result are tokens of images, [images, height * width,
// ...], and batches are windows of these, image by image and line by line: height and width of an
// image, of a window, and how far windows are shifted (TokenWindows).
//
// With `keys` given, only so many keys and values are there, from the first on, as in a cache that
// is longer than what it holds; kLength is their number then.
struct AttentionAttrs : AttrsOf<AttentionAttrs> {
  double scale = 1;
  bool causal = false;
  bool alignEnd = false;
  double softcap = 0;               // 0: none; else scores become softcap * tanh(scores / softcap)
  bool transposedKeys = false;      // k is [batch, heads, size, length]
  int64_t heads = 0, kvHeads = 0;   // 0: all operands have rank 4
  int64_t size = 0, valueSize = 0;  // of a head of q and k, of v, where they are tokens
  std::vector<int64_t> offsets;     // first columns of q, k and v; empty: 0
  int64_t maskBatches = 0;          // 0: as many as there are
  std::vector<int64_t> windows;     // six numbers; empty: none
  Shape keys;                       // one number; empty: all
  bool readsTokens() const { return heads > 0; }
  TokenWindows tokenWindows() const;
  void fields(AttrVisitor& visit) override {
    visit("scale", scale);
    visit("causal", causal);
    visit("align_end", alignEnd);
    visit("softcap", softcap);
    visit("transposed_keys", transposedKeys);
    visit("heads", heads);
    visit("kv_heads", kvHeads);
    visit("size", size);
    visit("value_size", valueSize);
    visit("offsets", offsets);
    visit("mask_batches", maskBatches);
    visit("windows", windows);
    visit("keys", keys);
  }
};

// One operand as elements apart: [batch][head][token][feature], whichever way it is stored. Where
// there are windows, tokenStride counts from the first token of all images.
struct HeadsView {
  Dim batch, heads, length, size;
  Dim batchStride, headStride, tokenStride, featureStride;
  Dim offset = 0;
};

// What kernels need to know; for concrete shapes, all numbers.
struct AttentionGeometry {
  HeadsView q, k, v, out;
};
AttentionGeometry attentionGeometry(const AttentionAttrs& attrs, const Shape& q, const Shape& k,
                                    const Shape& v);
AttentionGeometry attentionGeometry(const Node& attention);

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

// DeformableAttention(value, sizes, starts, locations, weights): every query looks at a few points
// of several images (levels), as in Deformable DETR.
//   value      [N, S, heads, size]                   the pixels of all levels, one after the other
//   sizes      [levels, 2], starts [levels]          height and width, first pixel; i32 or i64
//   locations  [N, queries, heads, levels, points, 2]  x and y, an image being 0 to 1 either way
//   weights    [N, queries, heads, levels, points]
// The result, [N, queries, heads, size], is the weighted sum of what lies at the points, between
// pixels interpolated from those around: pixel (i, j) stands at ((j + 0.5) / width, (i + 0.5) /
// height). Pixels outside a level, or outside of value, are zero. It has no attributes.

}  // namespace camshaft
