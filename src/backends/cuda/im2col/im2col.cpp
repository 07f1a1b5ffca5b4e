// DeformColumns: a thread finds what a tap of one window sees, then takes it from some channels.
// FoldColumns: a thread sums what the windows over one element hold for it.
#include "ops/im2col.h"

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/codegen/windows.h"
#include "ops/window.h"
#include "support/text.h"

namespace camshaft::cuda::im2col {
namespace {

constexpr int kThreads = 256, kChannels = 16;  // a block's taps, and channels of each

Verdict supportsDeform(const Node& node, const BuildContext&) {
  if (const DataType type = node.input(0)->dataType(); bitsOf(type) < 16)
    return Verdict::no("only floats of 16 bits and more");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepareDeform(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<DeformColumnsAttrs>();
  const DataType type = node.input(0)->dataType();
  const Shape& x = node.input(0)->shape();
  const Dim windows = node.output()->shape()[3], perGroup = floorDiv(x[1], attrs.groups);
  const Dim items = x[0] * attrs.groups * attrs.kernel[0] * attrs.kernel[1] * windows;
  KernelText kernel(str("deform_columns_", type), node, context);
  printElementStore(kernel, node, 1, Results::kComputed);
  printWindows(kernel, windowsOf(attrs, attrs.kernel));
  kernel.include("im2col/deform_columns.cuh");
  kernel.body +=
      str("  deformColumns<", kThreads, ", ", kChannels, ", ", attrs.groups, ">(Image{}, x0, x1, ",
          node.hasInput(2) ? "x2" : "nullptr", ", ", kernel.size(items), ", ", kernel.size(windows),
          ", ", kernel.size(node.input(1)->shape()[3]), ", ", sizesText(kernel, {x[1], x[2], x[3]}),
          ", store);\n");
  return kernel.prepared(
      {.grid = {ceilDiv(items, kThreads), ceilDiv(perGroup, kChannels), 1}, .block = kThreads});
}

Verdict supportsFold(const Node& node, const BuildContext&) {
  const DataType type = node.input(0)->dataType();
  if (type == DataType::kBool || (isFloat(type) && bitsOf(type) == 8))
    return Verdict::no(str("does not sum ", type));
  return Verdict{whyNotPrinted(node)};
}

Prepared prepareFold(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<FoldColumnsAttrs>();
  const Shape& y = node.output()->shape();
  const std::vector<Window> windows = windowsOf(attrs, attrs.kernel);
  Shape counts;
  for (size_t i = 0; i < windows.size(); ++i)
    counts.push_back(windowCount(node, windows[i], attrs.sizes[i]));
  ElementKernel kernel("fold_columns", node, context, 1, Results::kComputed);
  kernel.printCoordinates(y);
  printWindows(kernel.text, windows);
  kernel.text.include("im2col/fold_columns.cuh");
  kernel.printResults(str("foldColumns(Image{}, x0, ", kernel.size(y[1]), ", ",
                          kernel.size(node.input(0)->shape()[2]), ", ",
                          sizesText(kernel.text, counts), ", at)"));
  return kernel.prepared();
}

constexpr Kernel kDeform[] = {{"cuda/deform_columns", supportsDeform, prepareDeform}};
constexpr Kernel kFold[] = {{"cuda/fold_columns", supportsFold, prepareFold}};

}  // namespace

KernelList deformColumnsKernels() { return kDeform; }
KernelList foldColumnsKernels() { return kFold; }

}  // namespace camshaft::cuda::im2col
