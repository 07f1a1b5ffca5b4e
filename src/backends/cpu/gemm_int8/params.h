// What the two halves of the products of 8-bit integers agree on.
#pragma once

#include <cstdint>

#include "backends/cpu/pointwise/byte_rows.h"

namespace camshaft::cpu::gemm_int8 {

inline constexpr char kMatMul[] = "cpu/gemm_int8_weights";
inline constexpr char kBatched[] = "cpu/gemm_int8_activations";
inline constexpr char kConv[] = "cpu/conv_int8_windows";
inline constexpr char kDepthwise[] = "cpu/conv_int8_each_channel";
inline constexpr char kGroups[] = "cpu/conv_int8_few_channels";
inline constexpr char kQuantize[] = "cpu/dynamic_quantize_f32";

// Inputs of the step: the first operand, the packed second one, the sums of its columns, then as
// numbered here (-1: none); then what the scaled epilogue reads (prepare_epilogue.h).
struct ProductParams {
  int64_t k = 0, n = 0;     // terms of a sum, columns of the result
  int32_t layout = 0;       // Layout::Kind
  int32_t isSigned = 0;     // the first operand is i8
  int32_t zeroInput = -1;   // its zero point, one number of its type
  int32_t zerosInput = -1;  // zero points of the second operand made i8, as i32, one per column
  // A program works on the result as f32, in workspace, before it is bytes.
  int32_t keepsFloats = 0;
};

// Channels of a picture, for kernels that go by taps.
inline constexpr int64_t kMostTapChannels = 4096;

// How sums become bytes in registers (ByteFinish), where they can.
struct ByteForm {
  int32_t isUsed = 0, hasStage = 0;
  pointwise::ByteQuotient first, last;  // of the scaled sums; behind a stage; never divisions
  float stageLow = 0, stageHigh = 0, stageScale = 1;
  pointwise::Dequantize residual;
  int32_t residualInput = -1;  // bytes, an input of the step
  int32_t tableInput = -1;     // 256 bytes
  pointwise::ByteBounds bounds;
};

// In front of ProductParams, whose k is taps * channels of a group, of a depthwise convolution
// taps; a filter's lines may be filled up to quads with zeros (canFillLines()). A picture of one
// spatial dimension has height 1. Groups are packed one after the other for products; a depthwise
// convolution is said to have one.
struct ConvParams {
  int64_t channels = 0, groups = 1;
  int64_t kernel[2] = {1, 1}, strides[2] = {1, 1}, dilations[2] = {1, 1};
  int64_t padsBegin[2] = {0, 0};
};

// In front of ProductParams where both operands are activations, which decide its k and n. There
// are no sums among the inputs.
struct BatchedParams {
  int32_t flip = 0;  // of the second operand, which makes it i8
  int32_t zero = 0;  // its zero point then
};

}  // namespace camshaft::cpu::gemm_int8
