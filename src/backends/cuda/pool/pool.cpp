#include "ops/pool.h"

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/row_plan.h"
#include "ops/window.h"
#include "support/text.h"

namespace camshaft::cuda::pool {
namespace {

constexpr int kThreads = 128;

// A thread computes `width` neighbouring channels of a position when channels are last, else one
// result. Indices in device code: n, c, p0, p1, ... of the result and i0, i1, ... of the input.
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
  // In the order of the layout, so that neighbouring threads have neighbouring results.
  std::vector<WalkPart> parts(std::string_view spatialName) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < spatialRank(); ++i) names.push_back(str(spatialName, i));
    names = layout.assemble<std::string>("n", "c", names);
    std::vector<WalkPart> parts;
    for (size_t i = 0; i < names.size(); ++i) parts.push_back({names[i], {i}});
    return parts;
  }
  // As many as fill 16 bytes, or fewer and more threads.
  std::vector<int> widths() const {
    return width > 2 ? std::vector<int>{width, 2} : std::vector<int>{width};
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

// The result's coordinates from the thread's number.
void printCoordinates(KernelText& kernel, const Problem& problem, int width) {
  const std::vector<WalkPart> parts = problem.parts("p");
  kernel.body +=
      str("  Index rest = Index(blockIdx.x) * ", kThreads,
          " + threadIdx.x;\n  if (rest >= ", kernel.size(floorDiv(numElements(problem.to), width)),
          ") return;\n");
  for (size_t i = parts.size(); i-- > 1;) {
    const int step = i + 1 == parts.size() ? width : 1;
    const std::string size = kernel.size(floorDiv(problem.to[i], step));
    kernel.body += str("  const Index ", parts[i].index, " = rest % ", size,
                       step > 1 ? str(" * ", step) : "", ";\n  rest /= ", size, ";\n");
  }
  kernel.body += "  const Index n = rest;\n";
}

// Where an input position counts from among those of its image, as the indices output numbers it.
std::string numberOf(KernelText& kernel, const Problem& problem) {
  std::string text;
  Dim step = 1;
  for (size_t k = 0; k < problem.spatialRank(); ++k) {
    const size_t i = problem.attrs.columnMajorIndices ? k : problem.spatialRank() - 1 - k;
    text += str(text.empty() ? "" : " + ", "i", i, " * ", kernel.size(step));
    step *= problem.from[problem.layout.spatialAxis(i)];
  }
  return text;
}

// Loops over the kernel that give its elements to `window`. Where a position is outside the image
// the nearest one inside is read, so that loads depend on no branch.
void printTaps(KernelText& kernel, const Problem& problem, int width, bool hasIndices) {
  Walk image(kernel, problem.from, problem.parts("i"));
  int64_t taps = 1;
  for (const Window& window : problem.windows) taps *= window.kernel;
  std::string inside;
  for (size_t i = 0; i < problem.spatialRank(); ++i) {
    const Window& window = problem.windows[i];
    const std::string size = kernel.size(problem.from[problem.layout.spatialAxis(i)]);
    kernel.body +=
        str(taps <= 32 ? "#pragma unroll\n" : "#pragma unroll 1\n", "  for (int k", i, " = 0; k", i,
            " < ", window.kernel, "; ++k", i, ") {\n  const Index at", i, " = p", i, " * ",
            window.stride, " - ", window.padBegin, " + k", i, " * ", window.dilation, ";\n");
    if (window.padBegin <= 0 && window.padEnd <= 0 && !problem.attrs.ceilMode) {
      kernel.body += str("  const Index i", i, " = at", i, ";\n");
    } else {
      kernel.body +=
          str("  const Index i", i, " = max(Index(0), min(", size, " - 1, at", i, "));\n");
      // Not "i == at": ptxas 13.0 takes that from the clamp, and is wrong where at is 0.
      inside += str(inside.empty() ? "" : " && ", "at", i, " >= 0 && at", i, " < ", size);
    }
  }
  const std::string value = image.load("x", contiguousStrides(problem.from), width, "part");
  kernel.body += str("    const bool isInside = ", inside.empty() ? "true" : inside,
                     ";\n#pragma unroll\n    for (int lane = 0; lane < ", width,
                     "; ++lane) window[lane].take(", value, ", isInside, ",
                     hasIndices ? numberOf(kernel, problem) : "0", ");\n  ",
                     std::string(problem.spatialRank(), '}'), "\n");
}

// How many elements the average is over.
std::string countText(KernelText& kernel, const Problem& problem) {
  if (problem.attrs.kind != PoolKind::kAverage) return "0";
  std::string text;
  for (size_t i = 0; i < problem.spatialRank(); ++i) {
    const Window& window = problem.windows[i];
    const Dim& size = problem.from[problem.layout.spatialAxis(i)];
    const bool padding = problem.attrs.countIncludePad;
    text += str(text.empty() ? "" : " * ", "positionsBetween<", window.kernel, ", ",
                window.dilation, ">(p", i, " * ", window.stride, " - ", window.padBegin, ", ",
                padding ? -window.padBegin : 0, ", ",
                kernel.size(padding ? size + window.padEnd : size), ")");
  }
  return text;
}

void printIndices(KernelText& kernel, const Problem& problem, int width) {
  Walk results(kernel, problem.to, problem.parts("p"));
  const Dim channels = problem.from[problem.layout.channelAxis()];
  kernel.body +=
      str("#pragma unroll\n  for (int lane = 0; lane < ", width, "; ++lane)\n    indices[",
          results.position(contiguousStrides(problem.to), "lane"), "] = (Index(n) * ",
          kernel.size(channels), " + c", problem.attrs.channelsLast ? " + lane" : "", ") * ",
          kernel.size(numElements(problem.layout.spatial(problem.from))), " + window[lane].at;\n");
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const Problem problem(node);
  const int width = problem.widths()[options.config];
  const DataType type = node.input(0)->dataType();
  const bool hasIndices = node.outputs.size() > 1;

  KernelText kernel(str(problem.attrs.kind == PoolKind::kMax       ? "max_pool_"
                        : problem.attrs.kind == PoolKind::kAverage ? "average_pool_"
                                                                   : "lp_pool_",
                        type, "_x", width),
                    node, options);
  kernel.input("x", 0);
  declareEpilogue(kernel, node);
  kernel.output("y");
  if (hasIndices) kernel.output("indices", 1);
  kernel.include("pool/pool.cuh");
  printCoordinates(kernel, problem, width);
  kernel.body += str("  ", poolingOf(problem.attrs, type, hasIndices), " window[", width, "];\n");
  printTaps(kernel, problem, width, hasIndices);
  Walk results(kernel, problem.to, problem.parts("p"));
  const std::string last = problem.parts("p").back().index;
  printStore(kernel, node, results, last, width);
  const std::string_view result = computeType(node.resultBeforeEpilogue().type);
  kernel.body +=
      str("  const int count = ", countText(kernel, problem), ";\n  ", result, " results[", width,
          "];\n#pragma unroll\n  for (int lane = 0; lane < ", width,
          "; ++lane) results[lane] = window[lane].finish(count);\n  store(", last, ", results);\n");
  if (hasIndices) printIndices(kernel, problem, width);
  const Dim threads = floorDiv(numElements(problem.to), width);
  return kernel.prepared({.grid = {ceilDiv(threads, kThreads), 1, 1}, .block = kThreads});
}

std::vector<int64_t> configurations(const Node& node) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < Problem(node).widths().size(); ++i) numbers.push_back(i);
  return numbers;
}

constexpr Kernel kKernels[] = {{"cuda/pool", isPrinted, prepare, configurations}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::pool
