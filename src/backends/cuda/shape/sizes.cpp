// Tensors made from sizes: Range, Shape, DimsTensor, ReshapeDims.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/ops.h"
#include "ops/shape.h"
#include "support/text.h"

namespace camshaft::cuda::shape {
namespace {

Verdict supportsRange(const Node& node) {
  if (node.input(0)->dataType() == DataType::kBool) return Verdict::no("counts in numbers");
  return movesElements(node);
}

Prepared prepareRange(const Node& node, const PrepareOptions& options) {
  const DataType type = node.input(0)->dataType();
  const Dim& count = node.as<RangeAttrs>().count;
  ElementKernel kernel("range", node, options, {count}, vectorWidth(type, {count}));
  kernel.text.body += "  const auto start = toCompute(x0[0]), step = toCompute(x1[0]);\n";
  const std::string_view number = computeType(type);
  return kernel.finish("",
                       str("op::Add<", number, ">(start, op::Mul<", number, ">(static_cast<",
                           number, ">(first + lane), step))"),
                       LaneValue::kComputed);
}

Verdict supportsSizes(const Node& node) {
  if (node.epilogue) return Verdict::no("takes no epilogue");
  return movesElements(node);
}

// One thread writes them: there are a few.
Prepared writeSizes(const Node& node, const PrepareOptions& options,
                    const std::vector<Dim>& sizes) {
  const DataType type = node.output()->dataType();
  KernelText kernel(str("sizes_", type, "_", sizes.size()), node, options);
  kernel.output("y");
  for (size_t i = 0; i < sizes.size(); ++i)
    kernel.body += str("  y[", i, "] = toStorage<", storageType(type), ">(static_cast<",
                       computeType(type), ">(", kernel.number(sizes[i]), "));\n");
  return kernel.prepared({.grid = {sizes.empty() ? 0 : 1, 1, 1}, .block = 1});
}

Prepared prepareShape(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<ShapeAttrs>();
  const Shape& shape = node.input(0)->shape();
  return writeSizes(node, options, {shape.begin() + attrs.begin, shape.begin() + attrs.end});
}

Prepared prepareDimsTensor(const Node& node, const PrepareOptions& options) {
  return writeSizes(node, options, node.as<DimsTensorAttrs>().values);
}

// A shape that cannot be, which ends a run on the CPU, gives sizes that BindDims then refuses.
Prepared prepareReshapeDims(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<ReshapeDimsAttrs>();
  const int64_t count = node.output()->shape()[0].value();
  KernelText kernel(str("reshape_dims_", count), node, options);
  kernel.input("x0", 0);
  kernel.output("y");
  kernel.body += "  long long known = 1;\n  int rest = -1;\n";
  for (int64_t i = 0; i < count; ++i) {
    kernel.body += str("  long long d", i, " = static_cast<long long>(x0[", i, "]);\n");
    if (!attrs.allowZero)
      kernel.body +=
          str("  if (d", i, " == 0) d", i, " = ",
              i < static_cast<int64_t>(attrs.input.size()) ? kernel.number(attrs.input[i]) : "-2",
              ";\n");
    kernel.body += str("  if (d", i, " == -1 && rest < 0) rest = ", i, "; else known *= d", i,
                       ";\n  y[", i, "] = d", i, ";\n");
  }
  kernel.body +=
      str("  const long long total = ", kernel.number(numElements(attrs.input)),
          ";\n  if (rest >= 0) y[rest] = known > 0 && total % known == 0 ? total / known : -1;\n");
  return kernel.prepared({.grid = {count > 0 ? 1 : 0, 1, 1}, .block = 1});
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
