// RoiAlign: a thread pools one bin of one channel.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/roi.h"
#include "support/text.h"

namespace camshaft::cuda::roi {
namespace {

Verdict supports(const Node& node, const BuildContext&) {
  for (int i : {0, 1})
    if (const DataType type = node.input(i)->dataType(); !isFloat(type) || bitsOf(type) < 16)
      return Verdict::no("only floats of 16 bits and more");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<RoiAlignAttrs>();
  const Shape& x = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  const DataType real = type == DataType::kF64 ? DataType::kF64 : DataType::kF32;
  const bool isMax = attrs.mode == RoiAlignMode::kMax;
  ElementKernel kernel(isMax ? "roi_align_max" : "roi_align", node, context, 1, Results::kComputed);
  kernel.printCoordinates(node.output()->shape());
  kernel.text.include("device/index.cuh");
  kernel.text.include("roi/roi_align.cuh");
  kernel.printResults(str("alignRoi<", isMax, ", RoiAxis<", computeType(real), ", ",
                          attrs.halfPixel, ", ", attrs.samplingRatio, ">, ", computeType(real),
                          ">(x0, x1, x2, ", sizesText(kernel.text, x), ", ", attrs.height, ", ",
                          attrs.width, ", ", literal(attrs.scale, real), ", ",
                          literal(attrs.halfPixel ? 0.5 : 0, real), ", at)"));
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/roi_align", supports, prepare}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::roi
