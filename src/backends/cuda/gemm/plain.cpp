#include "backends/cuda/gemm/plain.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/gemm/operands.h"
#include "backends/cuda/codegen/store.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kSide = 16;  // PlainTile::kSide

// Results per thread, as configurations number them, and columns of few rows behind those.
struct Tile {
  int rows, columns;
};
constexpr Tile kTiles[] = {{4, 4}, {8, 8}, {2, 2}, {1, 4}};
constexpr int64_t kFewRows = std::size(kTiles);

// How many rows a thread has where it has a column; 0 where there are too many.
int rowsOfColumns(const Dim& rows) {
  constexpr int64_t kMost = 4;
  return rows.isConstant() && rows.value() <= kMost ? static_cast<int>(rows.value()) : 0;
}

// Matrices of A by one B are one matrix, where zero points do not tell them apart.
bool isFlat(const Node& node) {
  const auto isOneNumber = [&](int input) {
    return !node.hasInput(input) || numElements(node.inputs[input]->shape()).isConstant(1);
  };
  const Shape &a = node.inputs[0]->shape(), &b = node.inputs[1]->shape();
  return a.size() >= 2 && b.size() >= 2 && isOneMatrix(b) && !matMulAttrsOf(node).transposeA &&
         (!isOfIntegers(node) || isOneNumber(2));
}

// The last matrix of an operand, or all of them as one.
Shape matrixOf(const Shape& operand, bool isFlat) {
  const Dim rows =
      isFlat ? numElements(Shape(operand.begin(), operand.end() - 1)) : operand[operand.size() - 2];
  return {rows, operand.back()};
}

Dim rowsOf(const Node& node) {
  const Shape& y = node.output()->shape();
  return isFlat(node) ? numElements(Shape(y.begin(), y.end() - 1)) : y[y.size() - 2];
}

std::vector<int64_t> configurations(const Node& node, const BuildContext&) {
  std::vector<int64_t> numbers = {0, 1, 2, 3};
  if (rowsOfColumns(rowsOf(node)) > 0 && node.op != &ops::MomentMatMul)
    numbers.insert(numbers.begin(), kFewRows);
  return numbers;
}

// Declares an input that broadcasts to the matrices of an operand, or is the operand, and returns
// the text of its element at (outer, k).
std::string elementText(KernelText& kernel, Walk& walk, const Node& node, int input,
                        const Shape& operand, bool hasDepthLast) {
  Shape shape = node.inputs[input]->shape();
  if (shape.size() < 2) shape.insert(shape.begin(), 2 - shape.size(), 1);
  const std::string name = str("x", input);
  kernel.input(name, input);
  kernel.body +=
      str("  const auto* const item", input, " = ", name, " + (",
          isFlat(node) ? "0" : walk.position(itemStrides(shape, node.output()->shape())), ");\n");
  std::vector<Dim> strides =
      broadcastStrides(matrixOf(shape, isFlat(node)), matrixOf(operand, isFlat(node)));
  if (!hasDepthLast) std::swap(strides[0], strides[1]);
  return str("Sum(toCompute(item", input, "[outer * ", kernel.size(strides[0]), " + k * ",
             kernel.size(strides[1]), "]))");
}

// Prints, as `name`, the reading of an operand less its zero points.
void printOperand(KernelText& kernel, Walk& walk, const Node& node, int input, bool hasDepthLast,
                  std::string_view name) {
  const Shape& shape = node.inputs[input]->shape();
  std::string value = elementText(kernel, walk, node, input, shape, hasDepthLast);
  if (isOfIntegers(node) && node.hasInput(input + 2))
    value += " - " + elementText(kernel, walk, node, input + 2, shape, hasDepthLast);
  kernel.body +=
      str("  const auto ", name, " = [&](Index outer, Index k) { return ", value, "; };\n");
}

// Of a MomentMatMul, by the block that has stored a tile.
void printMoments(KernelText& kernel, std::string_view rows, std::string_view columns) {
  kernel.include("device/row_moments.cuh");
  kernel.output("moments", 1);
  kernel.body +=
      str("  __syncthreads();\n  constexpr Index kBlocks = Tile::kColumns / kMomentColumns;\n"
          "  for (Index at = threadIdx.x; at < Tile::kRows * kBlocks; at += Tile::kThreads) {\n"
          "    const Index row = tile.row + at / kBlocks;\n"
          "    const Index column = tile.column + at % kBlocks * kMomentColumns;\n"
          "    if (row >= ",
          rows, " || column >= ", columns, ") continue;\n    const Index first = (item * ", rows,
          " + row) * ", columns,
          " + column;\n    writeMoments(y + first, moments + first / kMomentColumns * 2);\n  }\n");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const MatMulAttrs attrs = matMulAttrsOf(node);
  const Shape& a = node.inputs[0]->shape();
  const Shape& y = node.output()->shape();
  const size_t rank = y.size();
  const Dim rows = rowsOf(node), columns = y[rank - 1];
  const Dim depth = a[a.size() - (attrs.transposeA ? 2 : 1)];
  const Dim items = isFlat(node) ? Dim(1) : numElements(leadingDims(y));
  const bool hasFewRows = config == kFewRows;
  const Tile own = kTiles[hasFewRows ? 0 : config];
  const Tile tile = hasFewRows ? Tile{rowsOfColumns(rows), kSide * kSide}
                               : Tile{own.rows * kSide, own.columns * kSide};

  KernelText kernel(
      str("gemm_plain_", node.inputs[0]->dataType(), "_", tile.rows, "x", tile.columns), node,
      context);
  kernel.include("gemm/plain.cuh");
  const Dim tilesM = ceilDiv(rows, tile.rows), tilesN = ceilDiv(columns, tile.columns);
  kernel.body +=
      str("  using Sum = ", computeType(node.resultBeforeEpilogue().type), ";\n  using Tile = ",
          hasFewRows ? str("PlainColumns<Sum, ", tile.rows)
                     : str("PlainTile<Sum, ", own.rows, ", ", own.columns, ", ", attrs.transposeA,
                           ", ", !attrs.transposeB),
          ">;\n  __shared__ Tile::Memory memory;\n"
          "  const Index tileN = Index(blockIdx.x) % ",
          kernel.size(tilesN), ", others = Index(blockIdx.x) / ", kernel.size(tilesN),
          ";\n  const Index tileM = others % ", kernel.size(tilesM), ", item = others / ",
          kernel.size(tilesM),
          ";\n  Tile tile(memory, tileM * Tile::kRows, tileN * Tile::kColumns);\n");
  Walk walk =
      isFlat(node)
          ? Walk(kernel, y, {{"row", axesFrom(0, rank - 1)}, {"column", {rank - 1}}})
          : Walk(kernel, y,
                 {{"item", axesFrom(0, rank - 2)}, {"row", {rank - 2}}, {"column", {rank - 1}}});
  printOperand(kernel, walk, node, 0, !attrs.transposeA, "left");
  printOperand(kernel, walk, node, 1, attrs.transposeB, "right");
  declareEpilogue(kernel, node);
  kernel.output("y");
  printStore(kernel, node, walk, "Index row, Index column", 1);
  kernel.body += str("  tile.multiply(left, ", kernel.size(rows), ", right, ", kernel.size(columns),
                     ", ", kernel.size(depth), ");\n  tile.finish(", kernel.size(rows), ", ",
                     kernel.size(columns), ", store);\n");
  if (node.op == &ops::MomentMatMul) printMoments(kernel, kernel.size(rows), kernel.size(columns));
  return kernel.prepared({.grid = {tilesM * tilesN * items, 1, 1}, .block = kSide * kSide});
}

}  // namespace

const Kernel& plainGemmKernel() {
  static constexpr Kernel kKernel{.name = "cuda/gemm_plain",
                                  .supports = isPrinted,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
