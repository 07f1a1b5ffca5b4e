// ScatterElements and ScatterND. Every block owns some rows of the output, looks through all
// indices for those that lead there, and writes its rows once: no order between blocks is needed.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/pointwise/pointwise.h"
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
  std::string row, isOutside;
  kernel.body += "  const auto rowOf = [&](Index tuple) -> Index {\n";
  if (node.op == &ops::ScatterElements) {
    const size_t axis = node.as<ScatterElementsAttrs>().axis;
    const std::vector<Dim> strides = contiguousStrides(data);
    printCoordinates(kernel, indices, "tuple", "c");
    kernel.body +=
        str("  const Index at = positionOf(x1[tuple], ", kernel.size(data[axis]), ");\n");
    isOutside = "at < 0";
    for (size_t i = 0; i < data.size(); ++i) {
      row +=
          str(i == 0 ? "" : " + ", i == axis ? "at" : str("c", i), " * ", kernel.size(strides[i]));
      if (i != axis && data[i] != indices[i])
        isOutside += str(" || c", i, " >= ", kernel.size(data[i]));
    }
  } else {
    const size_t length = indices.back().value();
    const std::vector<Dim> strides = contiguousStrides({data.begin(), data.begin() + length});
    for (size_t i = 0; i < length; ++i) {
      kernel.body += str("  const Index at", i, " = positionOf(x1[tuple * ", length, " + ", i,
                         "], ", kernel.size(data[i]), ");\n");
      row += str(i == 0 ? "" : " + ", "at", i, " * ", kernel.size(strides[i]));
      isOutside += str(i == 0 ? "" : " || ", "at", i, " < 0");
    }
  }
  kernel.body += str("  return ", isOutside, " ? Index(-1) : ", row, ";\n  };\n");
}

// The rows and columns that one block owns.
struct Tile {
  int64_t rows, columns;
};

Tile chooseTile(const ScatterProblem& problem, const PrepareOptions& options, int width) {
  constexpr int64_t kElements = 4096, kMostColumns = 2048, kBlocks = 264;
  const int64_t columns = (options.opt(problem.columns) + width - 1) / width * width;
  Tile tile;
  tile.columns = std::clamp<int64_t>(columns, width, kMostColumns);
  const int64_t spread = (options.opt(problem.rows) + kBlocks - 1) / kBlocks;
  tile.rows = std::clamp<int64_t>(spread, 1, kElements / tile.columns);
  return tile;
}

// What the texts below name.
void printSizes(KernelText& kernel, const ScatterProblem& problem) {
  kernel.body +=
      str("  const Index rows = ", kernel.size(problem.rows),
          ", columns = ", kernel.size(problem.columns), ", tuples = ", kernel.size(problem.tuples),
          ";\n", "  const Index row0 = Index(blockIdx.x) * kRows;\n",
          "  const Index column0 = Index(blockIdx.y) * kColumns;\n");
}

// Over the block's elements in vectors from `first` on.
constexpr std::string_view kElementLoop = R"(
  for (int i = threadIdx.x; i < kRows * (kColumns / kWidth); i += kThreads) {
    const int row = i / (kColumns / kWidth), column = i % (kColumns / kWidth) * kWidth;
    if (row0 + row >= rows || column0 + column >= columns) continue;
    const Index first = (row0 + row) * columns + column0 + column;
)";

// The last update of a row wins, as if they were made in order.
constexpr std::string_view kFindWinners = R"(
  __shared__ Index winners[kRows];
  for (int i = threadIdx.x; i < kRows; i += kThreads) winners[i] = -1;
  __syncthreads();
  for (Index tuple = threadIdx.x; tuple < tuples; tuple += kThreads) {
    const Index row = rowOf(tuple) - row0;
    if (row >= 0 && row < kRows) atomicMax(&winners[row], tuple);
  }
  __syncthreads();
)";
constexpr std::string_view kLoadWinner = R"(
    const Index winner = winners[row];
    const auto from = winner < 0 ? x0 + first : x2 + winner * columns + column0 + column;
    const auto moved = loadVector<kWidth>(from);
)";

void printReplace(KernelText& kernel, ElementStore& store) {
  kernel.body += str(kFindWinners, kElementLoop, kLoadWinner);
  store.print("", "moved.v[lane]", LaneValue::kStored);
  kernel.body += "  }\n";
}

constexpr std::string_view kFillSlots = R"(
    for (int lane = 0; lane < kWidth; ++lane)
      slots[row * kColumns + column + lane] = toCompute(x0[first + lane]);
  }
  __syncthreads();
)";
// Every row has a team of threads, which takes its updates one after the other.
constexpr std::string_view kCombine = R"(
  const Index end = columns - column0 < kColumns ? columns - column0 : Index(kColumns);
  for (Index tuple0 = 0; tuple0 < tuples; tuple0 += kThreads * kEach) {
    int own[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const Index tuple = tuple0 + i * kThreads + threadIdx.x;
      const Index row = tuple < tuples ? rowOf(tuple) - row0 : Index(-1);
      own[i] = row >= 0 && row < kRows ? int(row) : -1;
    }
    const unsigned count = hits.collect(own);
    for (unsigned hit = 0; hit < count; ++hit) {
      const int row = hits.rows[hit];
      if (row % (kThreads / kTeam) != threadIdx.x / kTeam) continue;
      const auto updates = x2 + (tuple0 + hits.updates[hit]) * columns + column0;
      for (int column = threadIdx.x % kTeam; column < end; column += kTeam) {
        auto& slot = slots[row * kColumns + column];
        slot = combine(slot, toCompute(updates[column]));
      }
    }
  }
  __syncthreads();
)";

// Narrow floats are summed as float and rounded once. Updates are made in order, so that results
// are the same in every run.
void printCombine(KernelText& kernel, ElementStore& store, const Node& node, int64_t columns) {
  static constexpr std::string_view kFunctions[] = {"", "Add", "Mul", "Min", "Max"};
  const DataType type = node.input(0)->dataType();
  int64_t team = 1;
  while (team < columns && team < kThreads) team *= 2;
  kernel.constant("kTeam", team);
  kernel.constant("kEach", 4);
  kernel.include("index/scatter.cuh");
  kernel.body += str("  __shared__ ", computeType(type), " slots[kRows * kColumns];\n",
                     "  __shared__ ScatterHits<kThreads, kEach> hits;\n",
                     "  const auto combine = [](auto a, auto b) { return op::",
                     kFunctions[static_cast<int>(reductionOf(node))], "(a, b); };\n", kElementLoop,
                     kFillSlots, kCombine, kElementLoop);
  store.print("", "slots[row * kColumns + column + lane]", LaneValue::kComputed);
  kernel.body += "  }\n";
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const ScatterProblem problem = scatterProblemOf(node);
  const DataType type = node.input(0)->dataType();
  const ScatterReduction reduction = reductionOf(node);
  const int width = vectorWidth(type, {problem.columns});
  const Tile tile = chooseTile(problem, options, width);
  KernelText kernel(
      str("scatter_", kScatterReductions[static_cast<int>(reduction)], "_", type, "_x", width),
      node, options);
  ElementStore store(kernel, node, width);
  kernel.include("device/index.cuh");
  kernel.constant("kThreads", kThreads);
  kernel.constant("kWidth", width);
  kernel.constant("kRows", tile.rows);
  kernel.constant("kColumns", tile.columns);
  printRowOf(kernel, node);
  printSizes(kernel, problem);
  if (reduction == ScatterReduction::kNone)
    printReplace(kernel, store);
  else
    printCombine(kernel, store, node, tile.columns);
  return kernel.prepared(
      {.grid = {ceilDiv(problem.rows, tile.rows), ceilDiv(problem.columns, tile.columns), 1},
       .block = kThreads});
}

Verdict supports(const Node& node) {
  const DataType type = node.input(0)->dataType();
  if (reductionOf(node) != ScatterReduction::kNone && isFloat(type) && bitsOf(type) == 8)
    return Verdict::no("does not combine 8-bit floats");  // not every device converts them
  return movesElements(node);
}

// Every thread reads the data of its own elements before it writes them.
bool inPlace(const Node& node, int input) {
  return input == 0 && node.input(0)->type == node.output()->type;
}

constexpr Kernel kKernels[] = {{"cuda/scatter", supports, prepare, nullptr, inPlace}};

}  // namespace

KernelList scatterKernels() { return kKernels; }

}  // namespace camshaft::cuda::index
