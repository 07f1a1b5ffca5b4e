// What the two halves of the convolutions agree on.
#pragma once

#include <cstdint>

#include "backends/cpu/conv/conv.h"

namespace camshaft::cpu::conv {

// By ConvAlgorithm.
inline constexpr const char* kNames[] = {
    "cpu/conv_f32_nhwc_gemm",       "cpu/conv_f32_nhwc_depthwise", "cpu/conv_f32_nhwc_winograd",
    "cpu/conv_f32_nhwc_split_bf16", "cpu/conv_bf16_nhwc_gemm",     "cpu/conv_f16_nhwc_gemm"};
inline constexpr char kTransposeName[] = "cpu/conv_transpose_f32_nhwc_gemm";

// Parameters are the instruction set, the ConvShape and the epilogue. Images with one spatial
// dimension have height 1. In a transposed convolution inChannels are those of its input.

// [pixels][inChannels] times [inChannels][this]: every tap of every input pixel.
inline int64_t scatteredColumns(const ConvShape& shape) {
  return shape.kernel[0] * shape.kernel[1] * shape.outChannels;
}

}  // namespace camshaft::cpu::conv
