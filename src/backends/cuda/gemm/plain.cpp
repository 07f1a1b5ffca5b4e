#include "backends/cuda/gemm/plain.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/gemm/operands.h"
#include "backends/cuda/codegen/store.h"
#include "ops/gemm.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kSide = 16;  // PlainTile::kSide

// Results per thread, as configurations number them.
struct Tile {
  int rows, columns;
};
constexpr Tile kTiles[] = {{4, 4}, {8, 8}, {2, 2}, {1, 4}};

std::vector<int64_t> configurations(const Node&, const BuildContext&) { return {0, 1, 2, 3}; }

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const auto& attrs = node.as<MatMulAttrs>();
  const Shape &a = node.inputs[0]->shape(), &b = node.inputs[1]->shape();
  const Shape& y = node.output()->shape();
  const size_t rank = y.size();
  const Dim rows = y[rank - 2], columns = y[rank - 1];
  const Dim depth = a[a.size() - (attrs.transposeA ? 2 : 1)];
  const Dim items = numElements(leadingDims(y));
  const Tile tile = kTiles[config];
  const DataType result = node.resultBeforeEpilogue().type;

  KernelText kernel(str("gemm_plain_", node.inputs[0]->dataType(), "_", tile.rows * kSide, "x",
                        tile.columns * kSide),
                    node, context);
  kernel.input("a", 0);
  kernel.input("b", 1);
  declareEpilogue(kernel, node);
  kernel.output("y");
  kernel.include("gemm/plain.cuh");
  const Dim tilesM = ceilDiv(rows, tile.rows * kSide),
            tilesN = ceilDiv(columns, tile.columns * kSide);
  kernel.body += str("  using Tile = PlainTile<", computeType(result), ", ", tile.rows, ", ",
                     tile.columns, ", ", attrs.transposeA, ", ", !attrs.transposeB,
                     ">;\n  __shared__ Tile::Memory memory;\n"
                     "  const Index tileN = Index(blockIdx.x) % ",
                     kernel.size(tilesN), ", others = Index(blockIdx.x) / ", kernel.size(tilesN),
                     ";\n  const Index tileM = others % ", kernel.size(tilesM),
                     ", item = others / ", kernel.size(tilesM),
                     ";\n  Tile tile(memory, tileM * Tile::kRows, tileN * Tile::kColumns);\n");
  Walk walk(kernel, y,
            {{"item", axesFrom(0, rank - 2)}, {"row", {rank - 2}}, {"column", {rank - 1}}});
  const std::string one = kernel.size(1);
  printStore(kernel, node, walk, "Index row, Index column", 1);
  const auto matrix = [&](const char* name, int input, const Dim& pitch, bool isAlongK) {
    const Value& value = *node.inputs[input];
    return str("StridedMatrix<", storageType(value.dataType()), ">{", name, " + (",
               walk.position(itemStrides(value.shape(), y)), "), ",
               isAlongK ? kernel.size(pitch) : one, ", ", isAlongK ? one : kernel.size(pitch), "}");
  };
  kernel.body += str("  tile.multiply(", matrix("a", 0, a.back(), !attrs.transposeA), ", ",
                     kernel.size(rows), ", ", matrix("b", 1, b.back(), attrs.transposeB), ", ",
                     kernel.size(columns), ", ", kernel.size(depth), ");\n  tile.finish(",
                     kernel.size(rows), ", ", kernel.size(columns), ", store);\n");
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
