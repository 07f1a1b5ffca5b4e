// Transposes that move the innermost dimension, through tiles in shared memory: reads and writes
// are both along consecutive elements.
#include <algorithm>
#include <optional>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/pointwise/pointwise.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda::move {
namespace {

// Matrices [columns, rows] of the output, each the transpose of one [rows, columns] of the input;
// the other dimensions number the matrices.
struct TransposeProblem {
  Shape shape;               // of the output, collapsed; the last dimension is the rows
  std::vector<Dim> strides;  // of the input, by output dimension
  size_t columns = 0;        // the output dimension along which the input is consecutive
  int width = 1;             // elements that one thread reads and writes at once
  int tile() const { return 32 * width; }
  const Dim& rowCount() const { return shape.back(); }
  const Dim& columnCount() const { return shape[columns]; }
};

// 4 bytes of elements where everything is aligned to them.
int accessWidth(const TransposeProblem& problem, DataType type) {
  int width = std::max(1, 32 / bitsOf(type));
  const auto shrink = [&](const Dim& dim) {
    while (!isMultiple(dim, width)) width /= 2;
  };
  shrink(problem.rowCount());
  shrink(problem.columnCount());
  for (const Dim& stride : problem.strides)
    if (!stride.isConstant(1)) shrink(stride);
  return width;
}

std::optional<TransposeProblem> transposeProblemOf(const Node& node) {
  StridedProblem problem{.shape = node.output()->shape()};
  const std::vector<Dim> own = contiguousStrides(node.input(0)->shape());
  StridedOperand moved;
  for (int64_t axis : node.as<TransposeAttrs>().order) moved.strides.push_back(own[axis]);
  problem.operands.push_back(moved);
  collapse(problem);
  TransposeProblem result{problem.shape, problem.operands[0].strides};
  if (result.shape.size() < 2 || result.strides.back().isConstant(1)) return std::nullopt;
  const auto consecutive = std::find(result.strides.begin(), result.strides.end(), Dim(1));
  if (consecutive == result.strides.end()) return std::nullopt;
  result.columns = consecutive - result.strides.begin();
  result.width = accessWidth(result, node.input(0)->dataType());
  return result;
}

bool isNarrow(const Dim& dim) { return dim.isConstant() && dim.value() < 8; }

Verdict supports(const Node& node) {
  const auto problem = transposeProblemOf(node);
  if (!problem) return Verdict::no("only where the innermost dimension moves");
  if (isNarrow(problem->rowCount()) || isNarrow(problem->columnCount()))
    return Verdict::no("tiles would be mostly empty");
  return movesElements(node);
}

// Which matrix and tile of it the block moves, and the sizes that kMoveTile names.
void printTile(KernelText& kernel, const TransposeProblem& problem) {
  const std::vector<Dim> outStrides = contiguousStrides(problem.shape);
  const int tile = problem.tile();
  Shape numbers;
  std::string input = "0", output = "0";
  for (size_t i = 0; i + 1 < problem.shape.size(); ++i) {
    if (i == problem.columns) continue;
    const size_t m = numbers.size();
    numbers.push_back(problem.shape[i]);
    input += str(" + c", m, " * ", kernel.size(problem.strides[i]));
    output += str(" + c", m, " * ", kernel.size(outStrides[i]));
  }
  const size_t m = numbers.size();
  numbers.push_back(ceilDiv(problem.columnCount(), tile));
  numbers.push_back(ceilDiv(problem.rowCount(), tile));
  printCoordinates(kernel, numbers, "Index(blockIdx.x)", "c");
  kernel.body += str("  const Index column0 = c", m, " * kTile, row0 = c", m + 1, " * kTile;\n",
                     "  const Index input = ", input, ", output = ", output, ";\n",
                     "  const Index rows = ", kernel.size(problem.rowCount()),
                     ", columns = ", kernel.size(problem.columnCount()), ";\n",
                     "  const Index rowStride = ", kernel.size(problem.strides.back()),
                     ", columnStride = ", kernel.size(outStrides[problem.columns]), ";\n");
}

// The pad of one access per line spreads a column over the banks.
constexpr std::string_view kMoveTile = R"(
  __shared__ __align__(16) Element tile[kTile][kTile + kWidth];
  const int across = threadIdx.x % 32 * kWidth;
#pragma unroll
  for (int down = threadIdx.x / 32; down < kTile; down += 8) {
    const Index row = row0 + down, column = column0 + across;
    if (row < rows && column < columns)
      storeVector<kWidth>(&tile[down][across],
                          loadVector<kWidth>(x0 + input + row * rowStride + column));
  }
  __syncthreads();
#pragma unroll
  for (int down = threadIdx.x / 32; down < kTile; down += 8) {
    const Index column = column0 + down, row = row0 + across;
    if (column >= columns || row >= rows) break;
    const Index first = output + column * columnStride + row;
)";

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const TransposeProblem problem = *transposeProblemOf(node);
  const int tile = problem.tile();
  KernelText kernel(str("transpose_", node.output()->dataType(), "_", tile, "x", tile), node,
                    options);
  ElementStore store(kernel, node, problem.width);
  kernel.constant("kTile", tile);
  kernel.constant("kWidth", problem.width);
  kernel.functions += str("using Element = ", storageType(node.input(0)->dataType()), ";\n");
  printTile(kernel, problem);
  kernel.body += kMoveTile;
  store.print("", "tile[across + lane][down]", LaneValue::kStored);
  kernel.body += "  }\n";
  const Dim tiles = ceilDiv(problem.rowCount(), tile) * ceilDiv(problem.columnCount(), tile);
  Dim matrices = 1;
  for (size_t i = 0; i + 1 < problem.shape.size(); ++i)
    if (i != problem.columns) matrices *= problem.shape[i];
  return kernel.prepared({.grid = {matrices * tiles, 1, 1}, .block = 256});
}

}  // namespace

KernelList transposeKernels() {
  static const Kernel kKernels[] = {{"cuda/transpose", supports, prepare},
                                    pointwise::kernels().front()};
  return kKernels;
}

}  // namespace camshaft::cuda::move
