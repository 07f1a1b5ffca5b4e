// The algorithms behind conv.h, one file each. Same contracts as there.
#pragma once

#include <vector>

#include "backends/cpu/conv/conv.h"
#include "backends/cpu/gemm/tile16.h"

namespace camshaft::cpu {

// One convolution call, as every algorithm takes it.
struct ConvCall : ConvTensors {
  const ConvShape& shape;
  const ConvExtent& extent;
  const float* packed;
  const Epilogue& epilogue;
  ThreadPool& pool;
  float* workspace;

  int64_t outHeight() const { return shape.outSize(0, extent.height); }
  int64_t outWidth() const { return shape.outSize(1, extent.width); }
  int64_t outPixels() const { return extent.batch * outHeight() * outWidth(); }
};

// 1x1, stride 1, no padding: every output pixel reads one input pixel.
bool isPointwise(const ConvShape& shape);
// Kernel taps times channels of one group: the depth of the product that a convolution is.
int64_t patchFloats(const ConvShape& shape);
// One group's weights [n][channels][taps] as [n][taps][channels], the order of gathered patches.
std::vector<float> tapsFirst(const ConvShape& shape, const float* weights);

int64_t packedGemmConvFloats(const ConvShape& shape);
void packGemmConv(const ConvShape& shape, const float* weights, float* packed);
int64_t gemmConvWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads);
void gemmConv(const ConvCall& call);

int64_t packedSplitConvFloats(const ConvShape& shape);
void packSplitConv(const ConvShape& shape, const float* weights, float* packed);
int64_t splitConvWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent);
void splitConv(const ConvCall& call);

bool conv16Supports(const ConvShape& shape);
int64_t packedConv16Floats(Type16 type, const ConvShape& shape);
void packConv16(Type16 type, const ConvShape& shape, const float* weights, float* packed);
int64_t conv16WorkspaceFloats(Type16 type, const ConvShape& shape, const ConvExtent& extent,
                              int threads);
void conv16(Type16 type, const ConvCall& call);

int64_t packedDepthwiseFloats(const ConvShape& shape);
void packDepthwise(const ConvShape& shape, const float* weights, float* packed);
void depthwiseConv(const ConvCall& call);

bool groupedSupports(const ConvShape& shape);
int64_t packedGroupedFloats(const ConvShape& shape);
void packGrouped(const ConvShape& shape, const float* weights, float* packed);
void groupedConv(const ConvCall& call);

int64_t packedWinogradFloats(const ConvShape& shape);
void packWinograd(const ConvShape& shape, const float* weights, float* packed);
int64_t winogradWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads);
void winogradConv(const ConvCall& call);

}  // namespace camshaft::cpu
