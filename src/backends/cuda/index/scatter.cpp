// ScatterElements and ScatterND. Every block owns some rows of the output, looks through all
// indices for those that lead there, and writes its rows once: no order between blocks is needed.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/index/index_text.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/index.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda::index {
namespace {

constexpr int kThreads = 256;

ScatterReduction reductionOf(const Node& node) {
  return node.op == &ops::ScatterND ? node.as<ScatterNDAttrs>().reduction
                                    : node.as<ScatterElementsAttrs>().reduction;
}

// The output is [rows, columns]; tuple t of the indices names the row that the updates' row t goes
// to.
struct ScatterProblem {
  Dim rows, columns, tuples;
};

ScatterProblem scatterProblemOf(const Node& node) {
  const Shape& data = node.input(0)->shape();
  const Shape& indices = node.input(1)->shape();
  if (node.op == &ops::ScatterElements) return {numElements(data), 1, numElements(indices)};
  const int64_t length = indices.back().value();
  return {numElements({data.begin(), data.begin() + length}),
          numElements({data.begin() + length, data.end()}),
          numElements({indices.begin(), indices.end() - 1})};
}

// rowOf(tuple): the row, or -1 when an index is outside, and the updates are left out.
void printRowOf(KernelText& kernel, const Node& node) {
  const Shape& data = node.input(0)->shape();
  const Shape& indices = node.input(1)->shape();
  std::string row;
  if (node.op == &ops::ScatterElements) {
    row = str("rowOfElement<", node.as<ScatterElementsAttrs>().axis, ", ",
              shorterDims(data, indices), ">(x1, tuple, ", sizesText(kernel, indices), ", ",
              sizesText(kernel, data), ", ", sizesText(kernel, contiguousStrides(data)), ")");
  } else {
    row = rowOfTupleText(kernel, "x1", "tuple", data, indices.back().value());
  }
  kernel.body += str("  const auto rowOf = [&](Index tuple) -> Index { return ", row, "; };\n");
}

// The rows and columns that one block owns.
struct Tile {
  int64_t rows, columns;
};

Tile chooseTile(const ScatterProblem& problem, const BuildContext& context, int width) {
  constexpr int64_t kElements = 4096, kMostColumns = 2048, kBlocks = 264;
  const int64_t columns = (context.opt(problem.columns) + width - 1) / width * width;
  Tile tile;
  tile.columns = std::clamp<int64_t>(columns, width, kMostColumns);
  const int64_t spread = (context.opt(problem.rows) + kBlocks - 1) / kBlocks;
  tile.rows = std::clamp<int64_t>(spread, 1, kElements / tile.columns);
  return tile;
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  static constexpr std::string_view kFunctions[] = {"", "Add", "Mul", "Min", "Max"};
  const ScatterProblem problem = scatterProblemOf(node);
  const DataType type = node.input(0)->dataType();
  const ScatterReduction reduction = reductionOf(node);
  const bool isReplacing = reduction == ScatterReduction::kNone;
  const int width = vectorWidth(type, {problem.columns});
  const Tile tile = chooseTile(problem, context, width);
  KernelText kernel(
      str("scatter_", kScatterReductions[static_cast<int>(reduction)], "_", type, "_x", width),
      node, context);
  printElementStore(kernel, node, width, isReplacing ? Results::kStored : Results::kComputed);
  includeIndex(kernel);
  kernel.include("index/scatter.cuh");
  printRowOf(kernel, node);
  kernel.body += str("  using Tile = ScatterTile<", kThreads, ", ", tile.rows, ", ", tile.columns,
                     ", ", width, ">;\n  const Tile tile{", kernel.size(problem.rows), ", ",
                     kernel.size(problem.columns), ", ", kernel.size(problem.tuples), "};\n");
  if (isReplacing)
    kernel.body +=
        str("  tile.replace(x0, x2, ", node.epilogue ? "false" : "x0 == y", ", rowOf, store);\n");
  else
    kernel.body += str("  tile.combine(x0, x2, rowOf, [](auto a, auto b) { return op::",
                       kFunctions[static_cast<int>(reduction)], "(a, b); }, store);\n");
  return kernel.prepared(
      {.grid = {ceilDiv(problem.rows, tile.rows), ceilDiv(problem.columns, tile.columns), 1},
       .block = kThreads});
}

Verdict supports(const Node& node, const BuildContext&) {
  const DataType type = node.input(0)->dataType();
  if (reductionOf(node) != ScatterReduction::kNone && isFloat(type) && bitsOf(type) == 8)
    return Verdict::no("does not combine 8-bit floats");  // not every device converts them
  return Verdict{whyNotPrinted(node)};
}

// Every thread reads the data of its own elements before it writes them.
bool inPlace(const Node& node, int input) {
  return input == 0 && node.input(0)->type == node.output()->type;
}

constexpr Kernel kKernels[] = {{"cuda/scatter", supports, prepare, nullptr, inPlace}};

}  // namespace

KernelList scatterKernels() { return kKernels; }

}  // namespace camshaft::cuda::index
