// Gather, GatherElements, GatherND and ReverseSequence: elements read at positions from a tensor.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/pointwise/pointwise.h"
#include "ops/index.h"
#include "support/text.h"

namespace camshaft::cuda::index {
namespace {

Dim product(const Shape& shape, size_t begin, size_t end) {
  return numElements({shape.begin() + begin, shape.begin() + end});
}

// Vectors from x0 + from, where all positions are inside.
Prepared finishAt(ElementKernel& kernel, const Node& node, int width,
                  const std::string& isOutside) {
  kernel.text.body +=
      str("  Vector<", storageType(node.input(0)->dataType()), ", ", width, "> moved{};\n  if (!(",
          isOutside, ")) moved = loadVector<", width, ">(x0 + from);\n");
  return kernel.finishMoved();
}

Prepared prepareGather(const Node& node, const PrepareOptions& options) {
  const size_t axis = node.as<GatherAttrs>().axis;
  const Shape& shape = node.input(0)->shape();
  const Dim outer = product(shape, 0, axis), inner = product(shape, axis + 1, shape.size());
  const int width = vectorWidth(node.input(0)->dataType(), {inner});
  ElementKernel kernel("gather", node, options, {outer, numElements(node.input(1)->shape()), inner},
                       width);
  kernel.text.include("device/index.cuh");
  const std::string size = kernel.size(shape[axis]);
  kernel.text.body +=
      str("  const Index at = positionOf(x1[c1], ", size, ");\n  const Index from = (c0 * ", size,
          " + at) * ", kernel.size(inner), " + c2;\n");
  return finishAt(kernel, node, width, "at < 0");
}

Prepared prepareGatherElements(const Node& node, const PrepareOptions& options) {
  const size_t axis = node.as<GatherElementsAttrs>().axis;
  const Shape& data = node.input(0)->shape();
  const Shape& indices = node.input(1)->shape();
  const std::vector<Dim> strides = contiguousStrides(data);
  ElementKernel kernel("gather_elements", node, options, indices, 1);
  kernel.text.include("device/index.cuh");
  kernel.text.body +=
      str("  const Index at = positionOf(x1[first], ", kernel.size(data[axis]), ");\n");
  std::string from, isOutside = "at < 0";
  for (size_t i = 0; i < data.size(); ++i) {
    from +=
        str(i == 0 ? "" : " + ", i == axis ? "at" : str("c", i), " * ", kernel.size(strides[i]));
    if (i != axis && data[i] != indices[i])
      isOutside += str(" || c", i, " >= ", kernel.size(data[i]));
  }
  kernel.text.body += str("  const Index from = ", from, ";\n");
  return finishAt(kernel, node, 1, isOutside);
}

Prepared prepareGatherND(const Node& node, const PrepareOptions& options) {
  const size_t batch = node.as<GatherNDAttrs>().batchDims;
  const Shape& data = node.input(0)->shape();
  const Shape& indices = node.input(1)->shape();
  const size_t length = indices.back().value();
  const Dim inner = product(data, batch + length, data.size());
  const std::vector<Dim> strides = contiguousStrides(data);
  const int width = vectorWidth(node.input(0)->dataType(), {inner});
  ElementKernel kernel(
      "gather_nd", node, options,
      {product(data, 0, batch), product(indices, batch, indices.size() - 1), inner}, width);
  kernel.text.include("device/index.cuh");
  kernel.text.body +=
      str("  const Index tuple = (c0 * ", kernel.size(product(indices, batch, indices.size() - 1)),
          " + c1) * ", length, ";\n");
  std::string from = str("c0 * ", kernel.size(product(data, batch, data.size()))), isOutside;
  for (size_t i = 0; i < length; ++i) {
    kernel.text.body += str("  const Index at", i, " = positionOf(x1[tuple + ", i, "], ",
                            kernel.size(data[batch + i]), ");\n");
    from += str(" + at", i, " * ", kernel.size(strides[batch + i]));
    isOutside += str(i == 0 ? "" : " || ", "at", i, " < 0");
  }
  kernel.text.body += str("  const Index from = ", from, " + c2;\n");
  return finishAt(kernel, node, width, isOutside);
}

// A length outside of the time steps counts as the nearest that is not.
Prepared prepareReverseSequence(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<ReverseSequenceAttrs>();
  const Shape& shape = node.input(0)->shape();
  const size_t first = std::min(attrs.batchAxis, attrs.timeAxis);
  const size_t second = std::max(attrs.batchAxis, attrs.timeAxis);
  const Dim inner = product(shape, second + 1, shape.size());
  const int width = vectorWidth(node.input(0)->dataType(), {inner});
  ElementKernel kernel("reverse_sequence", node, options,
                       {product(shape, 0, first), shape[first], product(shape, first + 1, second),
                        shape[second], inner},
                       width);
  const bool isTimeFirst = attrs.timeAxis < attrs.batchAxis;
  const std::string step = isTimeFirst ? "c1" : "c3", sequence = isTimeFirst ? "c3" : "c1";
  const std::string stride = kernel.size(contiguousStrides(shape)[attrs.timeAxis]);
  const std::string steps = kernel.size(shape[attrs.timeAxis]);
  kernel.text.body +=
      str("  const long long asked = static_cast<long long>(x1[", sequence,
          "]);\n  const Index length = Index(asked < 0 ? 0 : asked < ", steps, " ? asked : ", steps,
          ");\n  const Index source = ", step, " < length ? length - 1 - ", step, " : ", step,
          ";\n  const auto moved = loadVector<", width, ">(x0 + first + (source - ", step, ") * ",
          stride, ");\n");
  return kernel.finishMoved();
}

constexpr Kernel kGather[] = {{"cuda/gather", movesElements, prepareGather}};
constexpr Kernel kGatherElements[] = {
    {"cuda/gather_elements", movesElements, prepareGatherElements}};
constexpr Kernel kGatherND[] = {{"cuda/gather_nd", movesElements, prepareGatherND}};
constexpr Kernel kReverse[] = {{"cuda/reverse_sequence", movesElements, prepareReverseSequence}};

}  // namespace

KernelList gatherKernels() { return kGather; }
KernelList gatherElementsKernels() { return kGatherElements; }
KernelList gatherNDKernels() { return kGatherND; }
KernelList reverseSequenceKernels() { return kReverse; }

}  // namespace camshaft::cuda::index
