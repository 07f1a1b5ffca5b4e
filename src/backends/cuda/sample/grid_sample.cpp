// GridSample: a thread finds what one grid point is made of, then sums it for some channels.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/pointwise/pointwise.h"
#include "ops/sample.h"
#include "support/text.h"

namespace camshaft::cuda::sample {
namespace {

constexpr int kThreads = 256, kChannels = 16;  // a block's grid points, and channels of each

bool isComputable(DataType type) { return isFloat(type) && bitsOf(type) >= 16; }

Verdict supports(const Node& node) {
  if (!isComputable(node.input(0)->dataType()) || !isComputable(node.input(1)->dataType()))
    return Verdict::no("only floats of 16 bits and more");
  return movesElements(node);
}

void printRules(KernelText& kernel, const Node& node) {
  static constexpr std::string_view kModes[] = {"kLinear", "kNearest", "kCubic"};
  static constexpr std::string_view kPaddings[] = {"kZeros", "kBorder", "kReflection"};
  const auto& attrs = node.as<GridSampleAttrs>();
  const bool isDouble = node.input(0)->dataType() == DataType::kF64;
  kernel.include("sample/grid_sample.cuh");
  kernel.functions +=
      str("struct Rules {\n  using Sum = ", isDouble ? "double" : "float",
          ";\n  static constexpr GridMode kMode = GridMode::", kModes[static_cast<int>(attrs.mode)],
          ";\n  static constexpr GridPadding kPadding = GridPadding::",
          kPaddings[static_cast<int>(attrs.padding)],
          ";\n  static constexpr bool kAlignCorners = ", attrs.alignCorners ? "true" : "false",
          ";\n};\n");
}

// Loops over the taps of every dimension, and what is added within.
std::string sumLoops(KernelText& kernel, const Shape& spatial) {
  const std::vector<Dim> strides = contiguousStrides(spatial);
  std::string text, ends, position, weight;
  for (size_t i = 0; i < spatial.size(); ++i) {
    text += str("#pragma unroll\n  for (int i", i, " = taps", i, ".kFirst; i", i, " < taps", i,
                ".kEnd; ++i", i, ") {\n  const Index at", i, " = taps", i, ".at(i", i,
                ");\n  if (at", i, " < 0) continue;\n");
    position += str(i == 0 ? "" : " + ", "at", i, " * ", kernel.size(strides[i]));
    weight += str(i == 0 ? "" : " * ", "taps", i, ".weight(i", i, ")");
    ends += "  }\n";
  }
  return str(text, "  sum += ", weight, " * toCompute(image[", position, "]);\n", ends);
}

// The grid point, its taps and the loop over channels, each with its image and output element.
void printPoint(KernelText& kernel, const Node& node, const Dim& items, const Dim& points) {
  const Shape& x = node.input(0)->shape();
  const size_t rank = x.size() - 2;
  kernel.constant("kThreads", kThreads);
  kernel.constant("kChannels", kChannels);
  kernel.body += str("  const Index items = ", kernel.size(items),
                     ", points = ", kernel.size(points), ", channels = ", kernel.size(x[1]),
                     ", imageSize = ", kernel.size(numElements({x.begin() + 2, x.end()})), R"(;
  const Index item = Index(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= items) return;
  const Index batch = item / points, point = item % points;
)");
  for (size_t i = 0; i < rank; ++i)  // the grid names the last dimension first
    kernel.body +=
        str("  const GridTaps<Rules> taps", i, "(static_cast<float>(toCompute(x1[item * ", rank,
            " + ", rank - 1 - i, "])), ", kernel.size(x[2 + i]), ");\n");
  kernel.body += R"(  const Index begin = Index(blockIdx.y) * kChannels;
  const Index end = begin + kChannels < channels ? begin + kChannels : channels;
  for (Index channel = begin; channel < end; ++channel) {
    const Index plane = batch * channels + channel, first = plane * points + point;
    const auto image = x0 + plane * imageSize;
    Rules::Sum sum = 0;
)";
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const Shape& x = node.input(0)->shape();
  const Shape& grid = node.input(1)->shape();
  const Shape spatial(x.begin() + 2, x.end());
  const Dim points = numElements({grid.begin() + 1, grid.end() - 1}), items = grid[0] * points;
  KernelText kernel(str("grid_sample_", spatial.size(), "d_", node.input(0)->dataType()), node,
                    options);
  ElementStore store(kernel, node, 1);
  printRules(kernel, node);
  printPoint(kernel, node, items, points);
  kernel.body += sumLoops(kernel, spatial);
  store.print("", "sum", LaneValue::kComputed);
  kernel.body += "  }\n";
  return kernel.prepared(
      {.grid = {ceilDiv(items, kThreads), ceilDiv(x[1], kChannels), 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/grid_sample", supports, prepare}};

}  // namespace

KernelList gridSampleKernels() { return kKernels; }

}  // namespace camshaft::cuda::sample
