#include "backends/cpu/compute/conv.h"

#include "backends/cpu/compute/conv_algorithms.h"

namespace camshaft::cpu {

bool convSupports(ConvAlgorithm algorithm, const ConvShape& shape) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm: return true;
    case ConvAlgorithm::kDepthwise: return shape.inChannels == shape.groups;
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

int64_t packedConvFloats(ConvAlgorithm algorithm, const ConvShape& shape) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm: return packedGemmConvFloats(shape);
    case ConvAlgorithm::kDepthwise: return packedDepthwiseFloats(shape);
    case ConvAlgorithm::kWinograd: return packedWinogradFloats(shape);
  }
  return 0;
}

void packConv(ConvAlgorithm algorithm, const ConvShape& shape, const float* weights,
              float* packed) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm: return packGemmConv(shape, weights, packed);
    case ConvAlgorithm::kDepthwise: return packDepthwise(shape, weights, packed);
    case ConvAlgorithm::kWinograd: return packWinograd(shape, weights, packed);
  }
}

int64_t convWorkspaceFloats(ConvAlgorithm algorithm, const ConvShape& shape,
                            const ConvExtent& extent, int threads) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm: return gemmConvWorkspaceFloats(shape, extent, threads);
    case ConvAlgorithm::kDepthwise: return 0;
    case ConvAlgorithm::kWinograd: return winogradWorkspaceFloats(shape, extent, threads);
  }
  return 0;
}

void convolve(ConvAlgorithm algorithm, const ConvShape& shape, const ConvExtent& extent,
              const float* input, const float* packed, float* output, const Epilogue& epilogue,
              ThreadPool& pool, float* workspace) {
  const ConvCall call{shape, extent, input, packed, output, epilogue, pool, workspace};
  if (call.outPixels() <= 0) return;
  switch (algorithm) {
    case ConvAlgorithm::kGemm: return gemmConv(call);
    case ConvAlgorithm::kDepthwise: return depthwiseConv(call);
    case ConvAlgorithm::kWinograd: return winogradConv(call);
  }
}

}  // namespace camshaft::cpu
