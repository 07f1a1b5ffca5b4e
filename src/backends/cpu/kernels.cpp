#include "backend/kernel.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/families.h"
#include "backends/cpu/precision.h"
#include "ops/ops.h"
#include "support/cpu_info.h"

namespace camshaft::cpu {
namespace {

struct Entry {
  Op op;
  KernelList (*kernels)();
};

// Which family takes which operator. An operator without one runs on the reference backend.
constexpr Entry kTable[] = {
    {&ops::Pointwise, pointwise::kernels},
    {&ops::Identity, move::kernels},
    {&ops::Conv, conv::kernels},
    {&ops::ConvTranspose, conv::kernels},
    {&ops::Pool, pool::kernels},
    {&ops::MatMul, gemm::kernels},
    {&ops::MatMulInteger, gemm_int8::kernels},
    {&ops::ConvInteger, gemm_int8::kernels},
    {&ops::DynamicQuantize, gemm_int8::kernels},
    {&ops::MatMulNBits, gemm_nbits::kernels},
    {&ops::Reduce, reduce::kernels},
    {&ops::ArgReduce, reduce::kernels},
    {&ops::CumSum, reduce::kernels},
    {&ops::Softmax, softmax::kernels},
    {&ops::LayerNorm, norm::kernels},
    {&ops::GroupNorm, norm::kernels},
    {&ops::Lrn, norm::kernels},
    {&ops::Attention, attention::kernels},
    {&ops::DeformableAttention, attention::kernels},
    {&ops::Transpose, move::kernels},
    {&ops::Reshape, move::kernels},
    {&ops::Expand, move::kernels},
    {&ops::Slice, move::kernels},
    {&ops::Concat, move::kernels},
    {&ops::Pad, move::kernels},
    {&ops::Tile, move::kernels},
    {&ops::Gather, index::kernels},
    {&ops::GatherElements, index::kernels},
    {&ops::GatherND, index::kernels},
    {&ops::ScatterElements, index::kernels},
    {&ops::ScatterND, index::kernels},
    {&ops::OneHot, index::kernels},
    {&ops::TopK, index::kernels},
    {&ops::NonZero, select::kernels},
    {&ops::NonMaxSuppression, select::kernels},
    {&ops::DeformColumns, im2col::kernels},
    {&ops::RoiAlign, roi::kernels},
    {&ops::Resize, sample::kernels},
    {&ops::GridSample, sample::kernels},
    {&ops::Recurrent, rnn::kernels},
    {&ops::Plugin, plugin::kernels},
};

KernelList kernelsFor(const Node& node) {
  for (const Entry& entry : kTable)
    if (entry.op == node.op) return entry.kernels();
  return {};
}

BuildTarget target(int) { return {.name = describeCpu()}; }

}  // namespace

const BuildBackend& buildBackend() {
  static constexpr BuildBackend kBackend{.name = "cpu",
                                         .kernelsFor = kernelsFor,
                                         .target = target,
                                         .prefersChannelsLast = true,
                                         .gain16 = gain16,
                                         .worksInBf16 = worksInBf16};
  return kBackend;
}

}  // namespace camshaft::cpu
