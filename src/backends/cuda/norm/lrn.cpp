#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/norm.h"
#include "support/text.h"

namespace camshaft::cuda::norm {
namespace {

// A thread has `width` neighbouring positions of one channel, and reads the channels around it.
Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<LrnAttrs>();
  const Shape& shape = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  const DataType wide = type == DataType::kF64 ? type : DataType::kF32;
  const Dim space = numElements({shape.begin() + 2, shape.end()});
  const int width = vectorWidth(type, {space}, kMostComputed);
  ElementKernel kernel("lrn", node, context, width, Results::kComputed, 128);
  kernel.printCoordinates({shape[0], shape[1], space});
  Walk walk(kernel.text, shape,
            {{"at[0]", {0}}, {"channel", {1}}, {"at[2]", axesFrom(2, shape.size())}});
  printLoad(kernel.text, walk, "Index channel", type, contiguousStrides(shape), width);
  kernel.text.include("norm/lrn.cuh");
  const int64_t before = (attrs.size - 1) / 2, after = attrs.size - 1 - before;
  kernel.text.body += str("  lrn<", width, ", ", before, ", ", after, ">(at[1], ",
                          kernel.size(shape[1]), ", ", literal(attrs.bias, wide), ", ",
                          literal(attrs.alpha / static_cast<double>(attrs.size), wide), ", ",
                          literal(attrs.beta, wide), ", first, load, store);\n");
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/lrn", isPrinted, prepare}};

}  // namespace

KernelList lrnKernels() { return kKernels; }

}  // namespace camshaft::cuda::norm
