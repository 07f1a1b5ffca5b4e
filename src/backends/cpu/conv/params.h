// What the two halves of the convolutions agree on.
#pragma once

#include <cstdint>

#include "backends/cpu/conv/conv.h"
#include "backends/cpu/gemm/tile16.h"

namespace camshaft::cpu::conv {

// By ConvAlgorithm.
inline constexpr const char* kNames[] = {
    "cpu/conv_f32_nhwc_gemm",     "cpu/conv_f32_nhwc_depthwise",  "cpu/conv_f32_nhwc_grouped",
    "cpu/conv_f32_nhwc_winograd", "cpu/conv_f32_nhwc_split_bf16", "cpu/conv_bf16_nhwc_gemm",
    "cpu/conv_f16_nhwc_gemm"};
inline constexpr char kTransposeName[] = "cpu/conv_transpose_f32_nhwc_gemm";
inline constexpr char kTranspose16Name[] = "cpu/conv_transpose_bf16_nhwc_gemm";

// Parameters are the instruction set, the ConvShape and the epilogue. Images with one spatial
// dimension have height 1. In a transposed convolution inChannels are those of its input.

// [pixels][inChannels] times [inChannels][this]: every tap of every input pixel.
inline int64_t scatteredColumns(const ConvShape& shape) {
  return shape.kernel[0] * shape.kernel[1] * shape.outChannels;
}

// Whether each input pixel of a transposed convolution gives a patch of the output of its own, if
// nothing is added to the output's end.
inline bool givesPatches(const ConvShape& shape) {
  for (int axis : {0, 1})
    if (shape.kernel[axis] != shape.stride[axis] || shape.dilation[axis] != 1 ||
        shape.padBegin[axis] != 0 || shape.padEnd[axis] != 0)
      return false;
  return true;
}

// Of the workspace of one thread that computes patches a line at a time, as if lines were kRows16
// pixels longer: products, and where those are in 16 bits the line as panels.
inline int64_t productsPerPixel(const ConvShape& shape) {
  return (scatteredColumns(shape) + 15) / 16 * 16;
}
inline int64_t floatsPerPixel(const ConvShape& shape, bool is16) {
  return productsPerPixel(shape) + (is16 ? steps16(shape.inChannels) * kDepth16 / 2 : 0);
}

}  // namespace camshaft::cpu::conv
