// NonMaxSuppression: a block per batch and class, and the last one to end puts the results together.
#include "ops/select.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/families.h"
#include "support/text.h"

namespace camshaft::cuda::select {
namespace {

constexpr int kThreads = 256;

Verdict supports(const Node& node) {
  return node.epilogue ? Verdict::no("takes no epilogue") : Verdict::yes();
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<NonMaxSuppressionAttrs>();
  const Shape& scores = node.input(1)->shape();
  const Dim rows = scores[0] * scores[1], boxes = scores[2], limit = min(attrs.limit, boxes);
  KernelText kernel("non_max_suppression", node, options);
  kernel.include("device/ranks.cuh");
  kernel.include("select/suppress.cuh");
  kernel.input("boxes", 0);
  kernel.input("scores", 1);
  kernel.input("iou", 2);
  kernel.input("lowest", 3);
  kernel.output("to", 0);
  kernel.output("count", 1);
  // A counter, then corners, ranks, results and counts of every row.
  kernel.zeroedWorkspace("workspace", 16, rows * (limit * (16 + 4) + boxes * 8 + 4));
  kernel.body += str(
      "  const long long rows = ", kernel.size(rows), ", limit = ", kernel.size(limit),
      ", boxCount = ", kernel.size(boxes), ";\n  const Index classes = ", kernel.size(scores[1]),
      ";\n  unsigned* done = static_cast<unsigned*>(workspace);\n"
      "  float4* kept = static_cast<float4*>(workspace) + 1;\n"
      "  auto* ranks = reinterpret_cast<Rank<unsigned>*>(kept + rows * limit);\n"
      "  int* results = reinterpret_cast<int*>(ranks + rows * boxCount);\n"
      "  unsigned* counts = reinterpret_cast<unsigned*>(results + rows * limit);\n"
      "  const long long row = blockIdx.x;\n  if (row < rows) {\n"
      "    const unsigned stay = suppress<",
      kThreads, ", ", attrs.centred ? "true" : "false", ", ", node.hasInput(3) ? "true" : "false",
      ">(boxes + row / classes * boxCount * 4, scores + row * boxCount, unsigned(boxCount), "
      "unsigned(limit), ",
      node.hasInput(2) ? "*iou" : "0.0f", ", ", node.hasInput(3) ? "*lowest" : "0.0f",
      ",\n        {ranks + row * boxCount, kept + row * limit, results + row * limit});\n"
      "    if (threadIdx.x == 0) counts[row] = stay;\n  }\n"
      "  if (isLastBlock(done))\n    joinResults<",
      kThreads,
      ">(results, counts, unsigned(rows), unsigned(classes), unsigned(limit), to, count);\n");
  return kernel.prepared({.grid = {max(1, rows), 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/non_max_suppression", supports, prepare}};

}  // namespace

KernelList suppressKernels() { return kKernels; }

}  // namespace camshaft::cuda::select
