// What a matrix product or convolution does to a result before it leaves the registers.
#pragma once

#include <cstdint>
#include <limits>

#include "support/half.h"

namespace camshaft::cpu {

enum class Activation : int32_t { kNone, kRelu, kClip, kSigmoid, kSilu, kHardSwish, kGelu, kTanh };

// y = activation(scale * product + bias + residual) * outScale + outShift, then post() on finished
// blocks.
//
// Columns are output channels, rows are output pixels or rows of the product. kGelu is the exact,
// erf-based one; kHardSwish is x * clip(x/6 + 1/2, 0, 1).
struct Epilogue {
  float scale = 1.0f;
  const float* bias = nullptr;             // one value per column
  const float* residual = nullptr;         // shaped like the result; may be the result's own memory
  const BFloat16* bf16Residual = nullptr;  // instead of that, for kernels that read and store bf16
  int64_t residualStride = 0;              // elements between its rows
  Activation activation = Activation::kNone;
  float low = 0.0f;  // bounds of kClip
  float high = 0.0f;
  float outScale = 1.0f, outShift = -0.0f;  // adding -0 changes nothing, not even a zero's sign

  // For anything else that is to ride on the result: called by the worker that computed a block,
  // while it is in cache, once for every block. `block` is the result at (row, column), in its
  // place where that is f32. The rows of batched products are counted within their own matrix.
  void (*post)(void* context, float* block, int64_t row, int64_t column, int64_t rows,
               int64_t columns, int64_t stride) = nullptr;
  void* postContext = nullptr;
};

// The part of an activation that is a clamp; everything else is activation-inl.h's.
struct Clamp {
  float low, high;
};

inline Clamp clampOf(const Epilogue& epilogue) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (epilogue.activation == Activation::kRelu) return {0.0f, infinity};
  if (epilogue.activation == Activation::kClip) return {epilogue.low, epilogue.high};
  return {-infinity, infinity};
}

// Whether that is all there is behind the sums.
inline bool isClampOnly(const Epilogue& epilogue) {
  const bool isClamp = epilogue.activation == Activation::kNone ||
                       epilogue.activation == Activation::kRelu ||
                       epilogue.activation == Activation::kClip;
  return isClamp && epilogue.outScale == 1.0f && epilogue.outShift == 0.0f;
}

}  // namespace camshaft::cpu
