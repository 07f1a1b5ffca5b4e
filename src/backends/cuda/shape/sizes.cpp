// Tensors made from sizes: Range, Shape, DimsTensor, ReshapeDims.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/ops.h"
#include "ops/shape.h"
#include "support/text.h"

namespace camshaft::cuda::shape {
namespace {

Verdict supportsRange(const Node& node, const BuildContext&) {
  if (node.input(0)->dataType() == DataType::kBool) return Verdict::no("counts in numbers");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepareRange(const Node& node, const BuildContext& context, int64_t) {
  const DataType type = node.input(0)->dataType();
  const Dim& count = node.as<RangeAttrs>().count;
  ElementKernel kernel("range", node, context, vectorWidth(type, {count}), Results::kComputed);
  kernel.text.body += "  const auto start = toCompute(x0[0]), step = toCompute(x1[0]);\n";
  const std::string_view number = computeType(type);
  kernel.printResults(str("op::Add<", number, ">(start, op::Mul<", number, ">(static_cast<", number,
                          ">(first + lane), step))"));
  return kernel.prepared();
}

Verdict supportsSizes(const Node& node, const BuildContext&) {
  if (node.epilogue) return Verdict::no("takes no epilogue");
  return Verdict{whyNotPrinted(node)};
}

std::string numbersText(KernelText& kernel, const std::vector<Dim>& numbers) {
  std::string text;
  for (const Dim& number : numbers) text += str(text.empty() ? "" : ", ", kernel.number(number));
  return str("{", text, "}");
}

// One thread writes them: there are a few.
LaunchShape oneThread(size_t count) { return {.grid = {count > 0 ? 1 : 0, 1, 1}, .block = 1}; }

Prepared writeSizes(const Node& node, const BuildContext& context, const std::vector<Dim>& sizes) {
  KernelText kernel(str("sizes_", node.output()->dataType(), "_", sizes.size()), node, context);
  kernel.output("y");
  kernel.include("shape/sizes.cuh");
  if (!sizes.empty()) kernel.body += str("  writeSizes(y, ", numbersText(kernel, sizes), ");\n");
  return kernel.prepared(oneThread(sizes.size()));
}

Prepared prepareShape(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<ShapeAttrs>();
  const Shape& shape = node.input(0)->shape();
  return writeSizes(node, context, {shape.begin() + attrs.begin, shape.begin() + attrs.end});
}

Prepared prepareDimsTensor(const Node& node, const BuildContext& context, int64_t) {
  return writeSizes(node, context, node.as<DimsTensorAttrs>().values);
}

Prepared prepareReshapeDims(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<ReshapeDimsAttrs>();
  const int64_t count = node.output()->shape()[0].value();
  KernelText kernel(str("reshape_dims_", count), node, context);
  kernel.input("x0", 0);
  kernel.output("y");
  kernel.include("shape/sizes.cuh");
  std::vector<Dim> kept(count, Dim(-2));
  std::copy_n(attrs.input.begin(), std::min<size_t>(count, attrs.input.size()), kept.begin());
  if (count > 0)
    kernel.body += str("  reshapeDims<", attrs.allowZero, ">(x0, ", numbersText(kernel, kept), ", ",
                       kernel.number(numElements(attrs.input)), ", y);\n");
  return kernel.prepared(oneThread(count));
}

constexpr Kernel kRange[] = {{"cuda/range", supportsRange, prepareRange}};
constexpr Kernel kShape[] = {{"cuda/shape", supportsSizes, prepareShape}};
constexpr Kernel kDimsTensor[] = {{"cuda/dims_tensor", supportsSizes, prepareDimsTensor}};
constexpr Kernel kReshapeDims[] = {{"cuda/reshape_dims", supportsSizes, prepareReshapeDims}};

}  // namespace

KernelList rangeKernels() { return kRange; }
KernelList shapeKernels() { return kShape; }
KernelList dimsTensorKernels() { return kDimsTensor; }
KernelList reshapeDimsKernels() { return kReshapeDims; }

}  // namespace camshaft::cuda::shape
