// NonMaxSuppression: a block per batch and class, and the last one to end puts the results
// together.
#include "ops/select.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/families.h"
#include "support/text.h"

namespace camshaft::cuda::select {
namespace {

constexpr int kThreads = 256;

Verdict supports(const Node& node, const BuildContext&) {
  return node.epilogue ? Verdict::no("takes no epilogue") : Verdict::yes();
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<NonMaxSuppressionAttrs>();
  const Shape& scores = node.input(1)->shape();
  const Dim rows = scores[0] * scores[1], boxes = scores[2], limit = min(attrs.limit, boxes);
  KernelText kernel("non_max_suppression", node, context);
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
  kernel.body += str("  suppressRows<", kThreads, ", ", attrs.centred, ", ", node.hasInput(3),
                     ">(boxes, scores, ", node.hasInput(2) ? "*iou" : "0.0f", ", ",
                     node.hasInput(3) ? "*lowest" : "0.0f", ", ", kernel.size(rows), ", ",
                     kernel.size(scores[1]), ", ", kernel.size(boxes), ", ", kernel.size(limit),
                     ", workspace, to, count);\n");
  return kernel.prepared({.grid = {max(1, rows), 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/non_max_suppression", supports, prepare}};

}  // namespace

KernelList suppressKernels() { return kKernels; }

}  // namespace camshaft::cuda::select
