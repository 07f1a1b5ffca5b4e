// DeformableAttention: a thread has some neighbouring elements of a head, for one query.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/attention.h"
#include "support/text.h"

namespace camshaft::cuda::attention {
namespace {

Verdict supports(const Node& node, const BuildContext&) {
  for (int i : {0, 3, 4})
    if (bitsOf(node.input(i)->dataType()) < 16)
      return Verdict::no("only floats of 16 bits and more");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const Shape &value = node.input(0)->shape(), &y = node.output()->shape();
  const Shape& weights = node.input(4)->shape();
  const DataType type = node.input(0)->dataType();
  const int width = vectorWidth(type, {value[3]}, kMostComputed);
  ElementKernel kernel("deformable_attention", node, context, width, Results::kComputed, 128);
  kernel.printCoordinates(y);
  kernel.text.include("attention/deformable.cuh");
  kernel.text.body +=
      str("  attendDeformably<", width, ">(x0, x1, x2, x3, x4, ", sizesText(kernel.text, weights),
          ", ", kernel.size(value[1]), ", ", kernel.size(value[3]), ", at, first, store);\n");
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/deformable_attention", supports, prepare}};

}  // namespace

KernelList deformableKernels() { return kKernels; }

}  // namespace camshaft::cuda::attention
