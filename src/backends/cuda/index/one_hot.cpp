#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/index.h"
#include "support/text.h"

namespace camshaft::cuda::index {
namespace {

Verdict supports(const Node& node, const BuildContext&) {
  if (!isInteger(node.input(0)->dataType())) return Verdict::no("only integer indices");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<OneHotAttrs>();
  const Shape& indices = node.input(0)->shape();
  const Dim outer = numElements({indices.begin(), indices.begin() + attrs.axis});
  const Dim inner = numElements({indices.begin() + attrs.axis, indices.end()});
  const bool isAlongDepth = inner.isConstant(1);
  const int width = vectorWidth(node.output()->dataType(), {isAlongDepth ? attrs.depth : inner});
  ElementKernel kernel("one_hot", node, context, width, Results::kStored);
  kernel.printCoordinates({outer, attrs.depth, inner});
  kernel.text.include("index/one_hot.cuh");
  kernel.text.body +=
      str("  oneHot<", width, ", ", isAlongDepth, ">(x0, x1, ", kernel.size(attrs.depth), ", ",
          kernel.size(inner), ", at, first, store);\n");
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/one_hot", supports, prepare}};

}  // namespace

KernelList oneHotKernels() { return kKernels; }

}  // namespace camshaft::cuda::index
