#include "backends/cpu/conv/conv.h"

#include <cstddef>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/split_gemm.h"

namespace camshaft::cpu {

bool isPointwise(const ConvShape& shape) {
  for (int axis : {0, 1}) {
    if (shape.kernel[axis] != 1 || shape.stride[axis] != 1 || shape.padBegin[axis] != 0 ||
        shape.padEnd[axis] != 0) {
      return false;
    }
  }
  return true;
}

int64_t patchFloats(const ConvShape& shape) {
  return shape.kernel[0] * shape.kernel[1] * (shape.inChannels / shape.groups);
}

std::vector<float> tapsFirst(const ConvShape& shape, const float* weights) {
  const int64_t channels = shape.inChannels / shape.groups;
  const int64_t outChannels = shape.outChannels / shape.groups;
  const int64_t taps = shape.kernel[0] * shape.kernel[1];
  std::vector<float> rows(static_cast<size_t>(outChannels * taps * channels));
  for (int64_t i = 0; i < outChannels * channels; ++i) {
    const int64_t out = i / channels, channel = i % channels;
    for (int64_t tap = 0; tap < taps; ++tap)
      rows[static_cast<size_t>((out * taps + tap) * channels + channel)] = weights[i * taps + tap];
  }
  return rows;
}

bool convSupports(ConvAlgorithm algorithm, const ConvShape& shape) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm:
      return true;
    case ConvAlgorithm::kSplit:
      return hasSplitGemm() && shape.groups == 1;
    case ConvAlgorithm::kBf16:
      return hasGemm16(Type16::kBf16) && conv16Supports(shape);
    case ConvAlgorithm::kF16:
      return hasGemm16(Type16::kF16) && conv16Supports(shape);
    case ConvAlgorithm::kDepthwise:
      return shape.inChannels == shape.groups && shape.outChannels == shape.groups;
    case ConvAlgorithm::kGrouped:
      return groupedSupports(shape);
    case ConvAlgorithm::kWinograd:
      for (int axis = 0; axis < 2; ++axis) {
        if (shape.kernel[axis] != 3 || shape.stride[axis] != 1 || shape.dilation[axis] != 1) {
          return false;
        }
      }
      return shape.groups == 1;
  }
  return false;
}

bool convTakesBf16(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::kBf16 || algorithm == ConvAlgorithm::kDepthwise;
}

int64_t packedConvFloats(ConvAlgorithm algorithm, const ConvShape& shape) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm:
      return packedGemmConvFloats(shape);
    case ConvAlgorithm::kSplit:
      return packedSplitConvFloats(shape);
    case ConvAlgorithm::kBf16:
      return packedConv16Floats(Type16::kBf16, shape);
    case ConvAlgorithm::kF16:
      return packedConv16Floats(Type16::kF16, shape);
    case ConvAlgorithm::kDepthwise:
      return packedDepthwiseFloats(shape);
    case ConvAlgorithm::kGrouped:
      return packedGroupedFloats(shape);
    case ConvAlgorithm::kWinograd:
      return packedWinogradFloats(shape);
  }
  return 0;
}

void packConv(ConvAlgorithm algorithm, const ConvShape& shape, const float* weights,
              float* packed) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm:
      return packGemmConv(shape, weights, packed);
    case ConvAlgorithm::kSplit:
      return packSplitConv(shape, weights, packed);
    case ConvAlgorithm::kBf16:
      return packConv16(Type16::kBf16, shape, weights, packed);
    case ConvAlgorithm::kF16:
      return packConv16(Type16::kF16, shape, weights, packed);
    case ConvAlgorithm::kDepthwise:
      return packDepthwise(shape, weights, packed);
    case ConvAlgorithm::kGrouped:
      return packGrouped(shape, weights, packed);
    case ConvAlgorithm::kWinograd:
      return packWinograd(shape, weights, packed);
  }
}

int64_t convWorkspaceFloats(ConvAlgorithm algorithm, const ConvShape& shape,
                            const ConvExtent& extent, int threads) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm:
      return gemmConvWorkspaceFloats(shape, extent, threads);
    case ConvAlgorithm::kSplit:
      return splitConvWorkspaceFloats(shape, extent);
    case ConvAlgorithm::kBf16:
      return conv16WorkspaceFloats(Type16::kBf16, shape, extent, threads);
    case ConvAlgorithm::kF16:
      return conv16WorkspaceFloats(Type16::kF16, shape, extent, threads);
    case ConvAlgorithm::kDepthwise:
    case ConvAlgorithm::kGrouped:
      return 0;
    case ConvAlgorithm::kWinograd:
      return winogradWorkspaceFloats(shape, extent, threads);
  }
  return 0;
}

void convolve(ConvAlgorithm algorithm, const ConvShape& shape, const ConvExtent& extent,
              const ConvTensors& tensors, const float* packed, const Epilogue& epilogue,
              ThreadPool& pool, float* workspace) {
  const ConvCall call{tensors, shape, extent, packed, epilogue, pool, workspace};
  if (call.outPixels() <= 0) return;
  switch (algorithm) {
    case ConvAlgorithm::kGemm:
      return gemmConv(call);
    case ConvAlgorithm::kSplit:
      return splitConv(call);
    case ConvAlgorithm::kBf16:
      return conv16(Type16::kBf16, call);
    case ConvAlgorithm::kF16:
      return conv16(Type16::kF16, call);
    case ConvAlgorithm::kDepthwise:
      return depthwiseConv(call);
    case ConvAlgorithm::kGrouped:
      return groupedConv(call);
    case ConvAlgorithm::kWinograd:
      return winogradConv(call);
  }
}

}  // namespace camshaft::cpu
