// Gather, GatherElements, GatherND and ReverseSequence: elements read at positions from a tensor.
#include <algorithm>

#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/families.h"
#include "backends/cuda/index/index_text.h"
#include "ops/index.h"
#include "support/text.h"

namespace camshaft::cuda::index {
namespace {

Dim product(const Shape& shape, size_t begin, size_t end) {
  return numElements({shape.begin() + begin, shape.begin() + end});
}

ElementKernel gatherKernel(std::string_view what, const Node& node, const BuildContext& context,
                           const Shape& view, int width) {
  ElementKernel kernel(what, node, context, width, Results::kStored);
  kernel.printCoordinates(view);
  includeIndex(kernel.text);
  kernel.text.include("index/gather.cuh");
  return kernel;
}

Prepared prepareGather(const Node& node, const BuildContext& context, int64_t) {
  const size_t axis = node.as<GatherAttrs>().axis;
  const Shape& shape = node.input(0)->shape();
  const Dim outer = product(shape, 0, axis), inner = product(shape, axis + 1, shape.size());
  const int width = vectorWidth(node.input(0)->dataType(), {inner});
  ElementKernel kernel = gatherKernel("gather", node, context,
                                      {outer, numElements(node.input(1)->shape()), inner}, width);
  kernel.text.body += str("  gather<", width, ">(x0, x1, ", kernel.size(shape[axis]), ", ",
                          kernel.size(inner), ", at, first, store);\n");
  return kernel.prepared();
}

Prepared prepareGatherElements(const Node& node, const BuildContext& context, int64_t) {
  const size_t axis = node.as<GatherElementsAttrs>().axis;
  const Shape& data = node.input(0)->shape();
  const Shape& indices = node.input(1)->shape();
  ElementKernel kernel = gatherKernel("gather_elements", node, context, indices, 1);
  kernel.text.body +=
      str("  gatherElements<", axis, ", ", shorterDims(data, indices), ">(x0, x1, ",
          sizesText(kernel.text, data), ", ", sizesText(kernel.text, contiguousStrides(data)),
          ", at, first, store);\n");
  return kernel.prepared();
}

Prepared prepareGatherND(const Node& node, const BuildContext& context, int64_t) {
  const size_t batch = node.as<GatherNDAttrs>().batchDims;
  const Shape& data = node.input(0)->shape();
  const Shape& indices = node.input(1)->shape();
  const size_t length = indices.back().value();
  const Dim inner = product(data, batch + length, data.size());
  const Dim tuples = product(indices, batch, indices.size() - 1);
  const int width = vectorWidth(node.input(0)->dataType(), {inner});
  ElementKernel kernel =
      gatherKernel("gather_nd", node, context, {product(data, 0, batch), tuples, inner}, width);
  const std::vector<Dim> strides = contiguousStrides(data);
  const auto indexed = [&](const std::vector<Dim>& all) {
    return sizesText(kernel.text, {all.begin() + batch, all.begin() + batch + length});
  };
  kernel.text.body += str("  gatherND<", width, ">(x0, x1, ", kernel.size(tuples), ", ",
                          kernel.size(product(data, batch, data.size())), ", ", indexed(data), ", ",
                          indexed(strides), ", at, first, store);\n");
  return kernel.prepared();
}

Prepared prepareReverseSequence(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<ReverseSequenceAttrs>();
  const Shape& shape = node.input(0)->shape();
  const size_t first = std::min(attrs.batchAxis, attrs.timeAxis);
  const size_t second = std::max(attrs.batchAxis, attrs.timeAxis);
  const Dim inner = product(shape, second + 1, shape.size());
  const int width = vectorWidth(node.input(0)->dataType(), {inner});
  ElementKernel kernel = gatherKernel("reverse_sequence", node, context,
                                      {product(shape, 0, first), shape[first],
                                       product(shape, first + 1, second), shape[second], inner},
                                      width);
  kernel.text.body +=
      str("  reverseSequence<", width, ", ", attrs.timeAxis < attrs.batchAxis, ">(x0, x1, ",
          kernel.size(shape[attrs.timeAxis]), ", ",
          kernel.size(contiguousStrides(shape)[attrs.timeAxis]), ", at, first, store);\n");
  return kernel.prepared();
}

constexpr Kernel kGather[] = {{"cuda/gather", isPrinted, prepareGather}};
constexpr Kernel kGatherElements[] = {{"cuda/gather_elements", isPrinted, prepareGatherElements}};
constexpr Kernel kGatherND[] = {{"cuda/gather_nd", isPrinted, prepareGatherND}};
constexpr Kernel kReverse[] = {{"cuda/reverse_sequence", isPrinted, prepareReverseSequence}};

}  // namespace

KernelList gatherKernels() { return kGather; }
KernelList gatherElementsKernels() { return kGatherElements; }
KernelList gatherNDKernels() { return kGatherND; }
KernelList reverseSequenceKernels() { return kReverse; }

}  // namespace camshaft::cuda::index
