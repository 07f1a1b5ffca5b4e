#include "backend/kernel.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/families.h"
#include "backends/cuda/libraries/prefetch.h"
#include "backends/cuda/services.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

struct Entry {
  Op op;
  KernelList (*kernels)();
};

// Which family takes which operator. An operator without one runs on the CPU, with copies.
constexpr Entry kTable[] = {
    {&ops::Pointwise, pointwise::kernels},
    {&ops::Identity, pointwise::kernels},
    {&ops::Transpose, move::transposeKernels},
    {&ops::Reshape, pointwise::kernels},
    {&ops::Expand, pointwise::kernels},
    {&ops::Slice, pointwise::kernels},
    {&ops::Concat, move::concatKernels},
    {&ops::Pad, move::padKernels},
    {&ops::Tile, move::tileKernels},
    {&ops::Trilu, move::triluKernels},
    {&ops::Random, random::kernels},
    {&ops::Range, shape::rangeKernels},
    {&ops::Shape, shape::shapeKernels},
    {&ops::DimsTensor, shape::dimsTensorKernels},
    {&ops::ReshapeDims, shape::reshapeDimsKernels},
    {&ops::Gather, index::gatherKernels},
    {&ops::GatherElements, index::gatherElementsKernels},
    {&ops::GatherND, index::gatherNDKernels},
    {&ops::OneHot, index::oneHotKernels},
    {&ops::ReverseSequence, index::reverseSequenceKernels},
    {&ops::ScatterElements, index::scatterKernels},
    {&ops::ScatterND, index::scatterKernels},
    {&ops::TopK, index::topKKernels},
    {&ops::NonZero, select::nonZeroKernels},
    {&ops::NonMaxSuppression, select::suppressKernels},
    {&ops::MatMul, gemm::kernels},
    {&ops::Attention, attention::kernels},
    {&ops::LinearAttention, attention::linearKernels},
    {&ops::Einsum, gemm::einsumKernels},
    {&ops::Conv, conv::kernels},
    {&ops::ConvTranspose, conv::transposeKernels},
    {&ops::Recurrent, rnn::kernels},
    {&ops::Resize, sample::resizeKernels},
    {&ops::GridSample, sample::gridSampleKernels},
    {&ops::RoiAlign, roi::kernels},
    {&ops::DeformColumns, im2col::deformColumnsKernels},
    {&ops::FoldColumns, im2col::foldColumnsKernels},
    {&ops::Softmax, softmax::kernels},
    {&ops::LayerNorm, norm::kernels},
    {&ops::PointwiseNorm, norm::kernels},
    {&ops::GroupNorm, norm::kernels},
    {&ops::Reduce, reduce::kernels},
    {&ops::ArgReduce, reduce::kernels},
    {&ops::CumSum, reduce::cumSumKernels},
    {&ops::Pool, pool::kernels},
    {&ops::Lrn, norm::lrnKernels},
};

KernelList kernelsFor(const Node& node) {
  for (const Entry& entry : kTable)
    if (entry.op == node.op) return entry.kernels();
  return {};
}

BuildTarget target(int computeCapability) {
  if (computeCapability != 0)
    return {.name = str("sm_", computeCapability),
            .isPresent = false,
            .computeCapability = computeCapability};
  try {
    return services().currentTarget();
  } catch (const Error& error) {
    fail(ErrorKind::kUnsupported, "cannot build for CUDA: ", error.message());
  }
}

std::vector<CompiledCode> compile(std::span<const std::string> sources, const BuildTarget& target) {
  return services().compile(sources, target.computeCapability);
}

}  // namespace

const BuildBackend& buildBackend() {
  static constexpr BuildBackend kBackend{.name = "cuda",
                                         .kernelsFor = kernelsFor,
                                         .target = target,
                                         .prefersChannelsLast = true,
                                         .hasDeviceMemory = true,
                                         .fusion = kGeneratedKernels,
                                         .compile = compile,
                                         .prefetch = prefetchPlans};
  return kBackend;
}

}  // namespace camshaft::cuda
