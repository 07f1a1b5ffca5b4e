#include "backends/cuda/families.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/store.h"
#include "support/text.h"

namespace camshaft::cuda::norm {
namespace {

constexpr int kThreads = 128;  // each has a block of columns

// Only where no product has found them (MomentMatMul).
Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  KernelText kernel("row_moments", node, context);
  kernel.include("device/row_moments.cuh");
  kernel.input("x", 0);
  kernel.output("y");
  const Shape& moments = node.output()->shape();
  const Dim blocks = numElements(Shape(moments.begin(), moments.end() - 1));
  kernel.body +=
      str("  const Index block = Index(blockIdx.x) * ", kThreads, " + threadIdx.x;\n  if (block < ",
          kernel.size(blocks), ") writeMoments(x + block * kMomentColumns, y + block * 2);\n");
  return kernel.prepared({.grid = {ceilDiv(blocks, kThreads), 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/row_moments", isPrinted, prepare}};

}  // namespace

KernelList momentKernels() { return kKernels; }

}  // namespace camshaft::cuda::norm
