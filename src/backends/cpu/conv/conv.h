// Convolution over NHWC activations, f32 or bf16, with weights packed at build time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/gemm/epilogue.h"

namespace camshaft {
class ThreadPool;
}

namespace camshaft::cpu {

// What is known when the weights are packed; plain bytes, so it can be stored as they are.
struct ConvShape {
  int64_t inChannels = 0, outChannels = 0, groups = 1;
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};  // height, width
  int64_t padBegin[2] = {0, 0}, padEnd[2] = {0, 0};

  int64_t outSize(int axis, int64_t inSize) const {
    const int64_t span = dilation[axis] * (kernel[axis] - 1) + 1;
    return (inSize + padBegin[axis] + padEnd[axis] - span) / stride[axis] + 1;
  }
};

// What is known at run time. Pixel strides are elements between neighbouring pixels, at least the
// number of channels: more when the tensor is a slice of a wider one.
struct ConvExtent {
  int64_t batch = 1, height = 0, width = 0;
  int64_t inPixelStride = 0, outPixelStride = 0;
  bool isBf16 = false;  // the input
};

enum class ConvAlgorithm : int32_t {
  kGemm,       // any convolution
  kDepthwise,  // one channel per group
  kGrouped,    // groups of 1, 2, 4 or 8 results and no more inputs, or of at least 16 results
  kWinograd,   // 3x3, stride 1, dilation 1, groups 1: F(4x4, 3x3), relative error about 1e-6
  kSplit,      // one group, on bf16 tiles as split_gemm.h, relative error about 5e-6
  kBf16,       // one group, operands rounded to bf16 as gemm16.h, any but the longest patches
  kF16,        // the same, rounded to f16
};

bool convSupports(ConvAlgorithm algorithm, const ConvShape& shape);
// Whether it also takes images in bf16.
bool convTakesBf16(ConvAlgorithm algorithm);

// Weights come as [outChannels][inChannels / groups][height][width]. Packed weights are valid under
// the GemmGeometry they were packed for.
int64_t packedConvFloats(ConvAlgorithm algorithm, const ConvShape& shape);
void packConv(ConvAlgorithm algorithm, const ConvShape& shape, const float* weights, float* packed);

// What is enough for an extent is enough for every smaller one.
int64_t convWorkspaceFloats(ConvAlgorithm algorithm, const ConvShape& shape,
                            const ConvExtent& extent, int threads);

// The images: one input and one output.
struct ConvTensors {
  const float* input = nullptr;
  float* output = nullptr;
  const BFloat16* bf16Input = nullptr;
  BFloat16* bf16Output = nullptr;
  std::span<const std::byte> upcoming;  // LaunchArgs::upcoming
};

// Rows of the epilogue are output pixels over the whole batch, columns output channels; with
// outPixelStride the residual still uses its own residualStride.
void convolve(ConvAlgorithm algorithm, const ConvShape& shape, const ConvExtent& extent,
              const ConvTensors& tensors, const float* packed, const Epilogue& epilogue,
              ThreadPool& pool, float* workspace);

}  // namespace camshaft::cpu
