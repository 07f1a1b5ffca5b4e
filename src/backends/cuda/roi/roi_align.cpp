// RoiAlign: a thread pools one bin of one channel.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/roi.h"
#include "support/text.h"

namespace camshaft::cuda::roi {
namespace {

Verdict supports(const Node& node) {
  for (int i : {0, 1})
    if (const DataType type = node.input(i)->dataType(); !isFloat(type) || bitsOf(type) < 16)
      return Verdict::no("only floats of 16 bits and more");
  return movesElements(node);
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<RoiAlignAttrs>();
  const Shape& x = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  const bool isDouble = type == DataType::kF64;
  const DataType real = isDouble ? DataType::kF64 : DataType::kF32;
  ElementKernel kernel(attrs.mode == RoiAlignMode::kMax ? "roi_align_max" : "roi_align", node,
                       options, node.output()->shape(), 1);
  kernel.text.include("device/index.cuh");
  kernel.text.include("roi/roi_align.cuh");
  kernel.text.functions +=
      str("using Real = ", computeType(real), ";\nusing Axis = RoiAxis<Real, ",
          attrs.halfPixel ? "true" : "false", ", ", attrs.samplingRatio, ">;\n");
  const std::string channels = kernel.size(x[1]), height = kernel.size(x[2]),
                    width = kernel.size(x[3]);
  const std::string scale = literal(attrs.scale, real),
                    shift = literal(attrs.halfPixel ? 0.5 : 0, real);
  // An image that is not there, which ends a run on the CPU, gives zeros.
  kernel.text.body +=
      str("  const Index image = positionOf(x2[c0], ", kernel.size(x[0]),
          ");\n  const auto edge = [&](int i) { return Real(toCompute(x1[c0 * 4 + i])) * ", scale,
          " - ", shift, "; };\n  const Axis rows(edge(1), edge(3), ", attrs.height, ", ", height,
          "), columns(edge(0), edge(2), ", attrs.width, ", ", width,
          ");\n  const Real pooled = image < 0 || ", height, " == 0 || ", width,
          " == 0 ? Real(0) : poolBin<", attrs.mode == RoiAlignMode::kMax ? "true" : "false",
          ", Real>(x0 + (image * ", channels, " + c1) * (Index(", height, ") * ", width, "), ",
          width, ", rows, c2, columns, c3);\n");
  return kernel.finish("", "pooled", LaneValue::kComputed);
}

constexpr Kernel kKernels[] = {{"cuda/roi_align", supports, prepare}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::roi
