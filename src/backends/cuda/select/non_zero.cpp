#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/families.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda::select {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 256, kElementsPerBlock = 4096;

Verdict supports(const Node& node) {
  if (node.epilogue) return Verdict::no("takes no epilogue");
  if (!isPrintable(node.input(0)->dataType())) return Verdict::no("elements share bytes");
  return Verdict::yes();
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const Shape& shape = node.input(0)->shape();
  const Dim total = numElements(shape);
  KernelText kernel(str("non_zero_", node.input(0)->dataType()), node, options);
  kernel.include("select/non_zero.cuh");
  kernel.input("x", 0);
  kernel.output("positions", 0);
  kernel.output("count", 1);
  kernel.zeroedWorkspace("flags", (1 + kMostBlocks) * 8);
  std::string split;  // a place in x as an index
  for (size_t d = shape.size(); d-- > 0;)
    split += d == 0 ? "    to[0] = rest;\n"
                    : str("    to[", d, "] = rest % ", kernel.size(shape[d]),
                          ";\n    rest /= ", kernel.size(shape[d]), ";\n");
  kernel.body +=
      str("  const auto write = [&](long long place, Index rest) {\n    long long* to = "
          "positions + place * ",
          shape.size(), ";\n", split, "  };\n  findSet<", kThreads, ">(x, ", kernel.size(total),
          ", static_cast<unsigned long long*>(flags), count, write);\n");
  const Dim blocks = max(1, min(kMostBlocks, ceilDiv(total, kElementsPerBlock)));
  return kernel.prepared({.grid = {blocks, 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/non_zero", supports, prepare}};

}  // namespace

KernelList nonZeroKernels() { return kKernels; }

}  // namespace camshaft::cuda::select
