#include "ops/pool.h"

#include <algorithm>

#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/codegen/windows.h"
#include "backends/cuda/families.h"
#include "support/text.h"

namespace camshaft::cuda::pool {
namespace {

constexpr int kThreads = 128;

// A thread computes `width` neighbouring channels of a position when channels are last, else one
// result.
struct Problem {
  const PoolAttrs& attrs;
  ImageLayout layout;
  const Shape &from, &to;
  std::vector<Window> windows;
  int width = 1;

  explicit Problem(const Node& node)
      : attrs(node.as<PoolAttrs>()),
        layout{attrs.channelsLast, node.input(0)->rank()},
        from(node.input(0)->shape()),
        to(node.output()->shape()),
        windows(windowsOf(attrs, attrs.kernel)) {
    if (attrs.channelsLast)
      width = vectorWidth(node.input(0)->dataType(), {from[layout.channelAxis()]}, kMostComputed);
  }
  size_t spatialRank() const { return windows.size(); }
  Shape sizes() const { return layout.spatial(from); }
  // As many as fill 16 bytes, or fewer and more threads.
  std::vector<int> widths() const {
    return width > 2 ? std::vector<int>{width, 2} : std::vector<int>{width};
  }
  // Bit i: windows may reach beyond the image along spatial dimension i.
  unsigned mayLeave() const {
    unsigned bits = 0;
    for (size_t i = 0; i < windows.size(); ++i)
      if (windows[i].padBegin > 0 || windows[i].padEnd > 0 || attrs.ceilMode) bits |= 1u << i;
    return bits;
  }
  // Whether the element nearest to any position of a window is one of its own: maxima may then
  // count it twice. Of an image without elements there is no such window.
  bool isNearestIn() const {
    return attrs.kind == PoolKind::kMax && !attrs.ceilMode &&
           std::ranges::all_of(windows, [](const Window& w) {
             return w.dilation == 1 && w.padBegin >= 0 && w.padEnd >= 0 &&
                    w.padBegin + w.padEnd < w.kernel;
           });
  }
  // How far apart neighbours along a dimension are as the indices output numbers positions.
  std::vector<Dim> numbering() const {
    Shape shape = sizes();
    if (attrs.columnMajorIndices) std::reverse(shape.begin(), shape.end());
    std::vector<Dim> steps = contiguousStrides(shape);
    if (attrs.columnMajorIndices) std::reverse(steps.begin(), steps.end());
    return steps;
  }
};

std::string poolingOf(const PoolAttrs& attrs, DataType type, bool hasIndices) {
  switch (attrs.kind) {
    case PoolKind::kMax:
      return str(hasIndices ? "IndexedMaxPooling<" : "MaxPooling<", computeType(type), ">");
    case PoolKind::kAverage:
      return str("AveragePooling<", computeType(type), ">");
    case PoolKind::kLp:
      break;
  }
  return str("LpPooling<", computeType(type), ", ", attrs.p, ">");
}

// Prints load(i, values), which reads the channels at spatial coordinates i.
void printImage(KernelText& kernel, const Problem& problem, DataType type, int width) {
  std::vector<std::string> names;
  for (size_t i = 0; i < problem.spatialRank(); ++i) names.push_back(str("i[", i, "]"));
  names = problem.layout.assemble<std::string>(
      "at[0]", str("at[", problem.layout.channelAxis(), "]"), names);
  Walk image(kernel, problem.from, partPerAxis(names));
  printLoad(kernel, image, str("const Coordinates<", problem.spatialRank(), ">& i"), type,
            contiguousStrides(problem.from), width);
}

// Where positions that the average is over begin and end, along each dimension.
std::string countedText(KernelText& kernel, const Problem& problem) {
  std::vector<Dim> begins, ends = problem.sizes();
  for (size_t i = 0; i < problem.spatialRank(); ++i) {
    const bool padding = problem.attrs.countIncludePad;
    begins.push_back(padding ? -problem.windows[i].padBegin : 0);
    if (padding) ends[i] += problem.windows[i].padEnd;
  }
  return str(sizesText(kernel, begins), ", ", sizesText(kernel, ends));
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Problem problem(node);
  const int width = problem.widths()[config];
  const DataType type = node.input(0)->dataType();
  const bool hasIndices = node.outputs.size() > 1;
  const bool isAverage = problem.attrs.kind == PoolKind::kAverage;

  ElementKernel kernel(problem.attrs.kind == PoolKind::kMax ? "max_pool"
                       : isAverage                          ? "average_pool"
                                                            : "lp_pool",
                       node, context, width, Results::kComputed, kThreads);
  if (hasIndices) kernel.text.output("indices", 1);
  kernel.printCoordinates(problem.to);
  printWindows(kernel.text, problem.windows);
  kernel.text.include("pool/pool.cuh");
  printImage(kernel.text, problem, type, width);
  std::string place;
  for (size_t i = 0; i < problem.spatialRank(); ++i)
    place += str(i == 0 ? "" : ", ", "at[", problem.layout.spatialAxis(i), "]");
  std::string& body = kernel.text.body;
  body += str(
      "  const Coordinates<", problem.spatialRank(), "> place{{", place, "}};\n  ",
      poolingOf(problem.attrs, type, hasIndices), " window[", width, "];\n  poolWindow<",
      problem.mayLeave(), ", ", problem.isNearestIn() && !hasIndices, ">(Image{}, window, place, ",
      sizesText(kernel.text, problem.sizes()), ", ",
      sizesText(kernel.text,
                hasIndices ? problem.numbering() : std::vector<Dim>(problem.spatialRank(), 0)),
      ", load);\n  const int count = ",
      isAverage ? str("tapsBetween(Image{}, place, ", countedText(kernel.text, problem), ")") : "0",
      ";\n");
  kernel.printResults("window[lane].finish(count)");
  if (hasIndices)
    body += str(
        "  writeIndices<", problem.attrs.channelsLast, ">(indices + first, window, (at[0] * ",
        kernel.size(problem.from[problem.layout.channelAxis()]), " + at[",
        problem.layout.channelAxis(), "]), ", kernel.size(numElements(problem.sizes())), ");\n");
  return kernel.prepared();
}

std::vector<int64_t> configurations(const Node& node, const BuildContext&) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < Problem(node).widths().size(); ++i) numbers.push_back(i);
  return numbers;
}

constexpr Kernel kKernels[] = {{"cuda/pool", isPrinted, prepare, configurations}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::pool
