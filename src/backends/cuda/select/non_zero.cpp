#include "backends/cuda/codegen/walk.h"
#include "backends/cuda/families.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda::select {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 256, kElementsPerBlock = 4096;

Verdict supports(const Node& node, const BuildContext&) {
  if (node.epilogue) return Verdict::no("takes no epilogue");
  if (!isPrintable(node.input(0)->dataType())) return Verdict::no("elements share bytes");
  return Verdict::yes();
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const Shape& shape = node.input(0)->shape();
  const Dim total = numElements(shape);
  KernelText kernel(str("non_zero_", node.input(0)->dataType()), node, context);
  kernel.include("device/coordinates.cuh");
  kernel.include("select/non_zero.cuh");
  kernel.input("x", 0);
  kernel.output("positions", 0);
  kernel.output("count", 1);
  kernel.zeroedWorkspace("flags", (1 + kMostBlocks) * 8);
  if (shape.empty())
    kernel.body += str("  findSet<", kThreads, ">(x, 1, flags, count, [](long long, Index) {});\n");
  else
    kernel.body += str("  writePositions<", kThreads, ">(x, ", kernel.size(total), ", ",
                       sizesText(kernel, shape), ", flags, positions, count);\n");
  const Dim blocks = max(1, min(kMostBlocks, ceilDiv(total, kElementsPerBlock)));
  return kernel.prepared({.grid = {blocks, 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/non_zero", supports, prepare}};

}  // namespace

KernelList nonZeroKernels() { return kKernels; }

}  // namespace camshaft::cuda::select
