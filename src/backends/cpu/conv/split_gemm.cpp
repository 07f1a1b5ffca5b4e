// Convolution as one product of bf16 pairs (gemm/split_gemm.h): rows are output pixels, k runs over
// kernel taps and channels. A pointwise convolution reads its rows where they lie; any other
// gathers all of them first.
#include <vector>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/conv/gather.h"
#include "backends/cpu/gemm/split_gemm.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

int64_t outPixels(const ConvShape& shape, const ConvExtent& extent) {
  return extent.batch * shape.outSize(0, extent.height) * shape.outSize(1, extent.width);
}

int64_t gatheredFloats(const ConvShape& shape, const ConvExtent& extent) {
  if (isPointwise(shape)) return 0;
  return (outPixels(shape, extent) * patchFloats(shape) + 15) / 16 * 16;
}

}  // namespace

int64_t packedSplitConvFloats(const ConvShape& shape) {
  return splitPackedBFloats(patchFloats(shape), shape.outChannels);
}

void packSplitConv(const ConvShape& shape, const float* weights, float* packed) {
  const int64_t k = patchFloats(shape);
  const std::vector<float> rows = tapsFirst(shape, weights);
  splitPackB(k, shape.outChannels, rows.data(), k, true, packed);
}

int64_t splitConvWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent) {
  return gatheredFloats(shape, extent) +
         splitGemmWorkspaceFloats(outPixels(shape, extent), patchFloats(shape));
}

void splitConv(const ConvCall& call) {
  const ConvShape& shape = call.shape;
  const int64_t k = patchFloats(shape);
  const float* rows = call.input;
  int64_t stride = call.extent.inPixelStride;
  if (!isPointwise(shape)) {
    constexpr int64_t kGrain = 16;
    call.pool.parallelFor(call.outPixels(), kGrain, [&](int64_t begin, int64_t end, int) {
      gatherPatches(shape, call.extent, call.input, shape.inChannels, begin, end - begin,
                    call.workspace + begin * k);
    });
    rows = call.workspace;
    stride = k;
  }
  splitGemm(call.outPixels(), shape.outChannels, k, rows, stride, call.packed, call.output,
            call.extent.outPixelStride, call.epilogue, call.pool,
            call.workspace + gatheredFloats(shape, call.extent));
}

}  // namespace camshaft::cpu
