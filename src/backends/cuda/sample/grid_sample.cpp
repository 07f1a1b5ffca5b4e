// GridSample: a thread finds what one grid point is made of, then sums it for some channels.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/sample.h"
#include "support/text.h"

namespace camshaft::cuda::sample {
namespace {

constexpr int kThreads = 256, kChannels = 16;  // a block's grid points, and channels of each

bool isComputable(DataType type) { return isFloat(type) && bitsOf(type) >= 16; }

Verdict supports(const Node& node, const BuildContext&) {
  if (!isComputable(node.input(0)->dataType()) || !isComputable(node.input(1)->dataType()))
    return Verdict::no("only floats of 16 bits and more");
  return Verdict{whyNotPrinted(node)};
}

void printRules(KernelText& kernel, const Node& node) {
  static constexpr std::string_view kModes[] = {"kLinear", "kNearest", "kCubic"};
  static constexpr std::string_view kPaddings[] = {"kZeros", "kBorder", "kReflection"};
  const auto& attrs = node.as<GridSampleAttrs>();
  const bool isDouble = node.input(0)->dataType() == DataType::kF64;
  kernel.include("sample/grid_sample.cuh");
  kernel.functions += str("using Rules = GridRules<", isDouble ? "double" : "float",
                          ", GridMode::", kModes[static_cast<int>(attrs.mode)],
                          ", GridPadding::", kPaddings[static_cast<int>(attrs.padding)], ", ",
                          attrs.alignCorners, ">;\n");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const Shape& x = node.input(0)->shape();
  const Shape& grid = node.input(1)->shape();
  const Shape spatial(x.begin() + 2, x.end());
  const Dim points = numElements({grid.begin() + 1, grid.end() - 1}), items = grid[0] * points;
  KernelText kernel(str("grid_sample_", spatial.size(), "d_", node.input(0)->dataType()), node,
                    context);
  printElementStore(kernel, node, 1, Results::kComputed);
  printRules(kernel, node);
  kernel.body +=
      str("  gridSample<Rules, ", kThreads, ", ", kChannels, ">(x0, x1, ", kernel.size(items), ", ",
          kernel.size(points), ", ", kernel.size(x[1]), ", ", sizesText(kernel, spatial), ", ",
          sizesText(kernel, contiguousStrides(spatial)), ", ", kernel.size(numElements(spatial)),
          ", store);\n");
  return kernel.prepared(
      {.grid = {ceilDiv(items, kThreads), ceilDiv(x[1], kChannels), 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/grid_sample", supports, prepare}};

}  // namespace

KernelList gridSampleKernels() { return kKernels; }

}  // namespace camshaft::cuda::sample
