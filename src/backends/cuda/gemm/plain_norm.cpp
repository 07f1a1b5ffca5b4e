#include "backends/cuda/gemm/plain_norm.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/store.h"
#include "backends/cuda/gemm/hopper/product.h"
#include "ops/gemm.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kSide = 16, kOwn = 4;  // PlainTile's

// What Hopper's product does not take in is a node of its own behind it, unless it is taken here.
bool isForHopper(const Node& node, const BuildContext& context) {
  if (!node.epilogue || context.target.computeCapability / 10 != 9) return false;
  const HopperProduct product = hopperProductOf(node);
  return product.refusal.empty() && !hopperEpilogueOf(node, product).refusal.empty();
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (isForHopper(node, context)) return Verdict::no("leaves its epilogue to a node of its own");
  return isPrinted(node, context);
}

// Prints, as `left`, the reading of a row's element as the norm makes it.
void printRows(KernelText& kernel, const Node& node, std::string_view depth) {
  std::string value = str("(toCompute(x0[row * ", depth, " + k]) - at.mean) * at.factor");
  if (node.hasInput(NormMatMulAttrs::kScale)) value += " * toCompute(x3[k])";
  if (node.hasInput(NormMatMulAttrs::kBias)) value += " + toCompute(x4[k])";
  kernel.body +=
      str("  const auto left = [&](Index row, Index k) {\n"
          "    const auto at = moments[row - tile.row];\n    return Number(",
          value, ");\n  };\n");
}

// By the blocks of the first columns.
void printMoments(KernelText& kernel, std::string_view rows) {
  kernel.body +=
      str("  const Index own = tile.row + threadIdx.x;\n"
          "  if (tileN == 0 && threadIdx.x < Tile::kRows && own < ",
          rows,
          ") {\n    mean[own] = moments[threadIdx.x].mean;\n"
          "    factor[own] = moments[threadIdx.x].factor;\n  }\n");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<NormMatMulAttrs>();
  const TensorType &x = node.inputs[0]->type, &y = node.output()->type;
  const size_t rank = x.shape.size();
  const Dim rows = numElements(Shape(x.shape.begin(), x.shape.end() - 1));
  const DataType wide = x.type == DataType::kF64 ? DataType::kF64 : DataType::kF32;

  KernelText kernel(str("gemm_plain_norm_", x.type), node, context);
  kernel.include("gemm/plain.cuh");
  kernel.include("gemm/plain_norm.cuh");
  for (int i = 0; i < 5; ++i)
    if (node.hasInput(i)) kernel.input(str("x", i), i);
  declareEpilogue(kernel, node);
  kernel.output("y");
  if (attrs.keepsMoments) {
    kernel.output("mean", attrs.meanOutput());
    kernel.output("factor", attrs.factorOutput());
  }
  const Dim tilesM = ceilDiv(rows, kSide * kOwn), tilesN = ceilDiv(y.shape[rank - 1], kSide * kOwn);
  const std::string height = kernel.size(rows), depth = kernel.size(x.shape[rank - 1]);
  const std::string width = kernel.size(y.shape[rank - 1]), across = kernel.size(tilesN);
  kernel.body +=
      str("  using Number = ", computeType(x.type), ";\n  using Tile = PlainTile<Number, ", kOwn,
          ", ", kOwn, ", false, ", !attrs.transposeB,
          ">;\n  __shared__ Tile::Memory memory;\n"
          "  __shared__ NormedRow<Number> moments[Tile::kRows];\n"
          "  const Index tileN = Index(blockIdx.x) % ",
          across, ", tileM = Index(blockIdx.x) / ", across,
          ";\n  Tile tile(memory, tileM * Tile::kRows, tileN * Tile::kColumns);\n"
          "  findMoments<Number, Tile::kRows, ",
          !attrs.rms, ">(moments, x2, tile.row, ", height, ", ", depth, ", ",
          literal(attrs.epsilon, wide), ");\n");
  if (attrs.keepsMoments) printMoments(kernel, height);
  printRows(kernel, node, depth);
  kernel.body +=
      str("  const auto right = [&](Index column, Index k) { return Number(toCompute(x1[",
          attrs.transposeB ? str("column * ", depth, " + k") : str("k * ", width, " + column"),
          "])); };\n");
  Walk walk(kernel, y.shape, {{"row", axesFrom(0, rank - 1)}, {"column", {rank - 1}}});
  printStore(kernel, node, walk, "Index row, Index column", 1);
  kernel.body += str("  tile.multiply(left, ", height, ", right, ", width, ", ", depth,
                     ");\n  tile.finish(", height, ", ", width, ", store);\n");
  return kernel.prepared({.grid = {tilesM * tilesN, 1, 1}, .block = kSide * kSide});
}

}  // namespace

const Kernel& plainNormGemmKernel() {
  static constexpr Kernel kKernel{.name = "cuda/gemm_plain_norm",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
