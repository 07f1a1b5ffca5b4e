#include "backends/cuda/gemm/mma.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/conv/convolution.h"
#include "backends/cuda/gemm/mma_config.h"
#include "backends/cuda/gemm/operands.h"
#include "backends/cuda/codegen/store.h"
#include "ops/gemm.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 4;

// Matrices that meet the same B are one tall matrix.
struct MmaProduct {
  Dim rows, columns, depth, items = 1;
  bool packsB = false;  // constant, as [columns, whole steps of depth]
  bool isFlat = false;
  std::string refusal;  // why it cannot be; empty: it can

  explicit MmaProduct(const Node& node) {
    const auto& attrs = node.as<MatMulAttrs>();
    const Value &a = *node.inputs[0], &b = *node.inputs[1];
    const Shape& y = node.output()->shape();
    rows = y[y.size() - 2];
    columns = y.back();
    depth = a.shape()[a.shape().size() - (attrs.transposeA ? 2 : 1)];
    packsB = b.isConstant() && isOneMatrix(b.shape());
    isFlat = isOneMatrix(b.shape());
    if (isFlat)
      rows *= numElements(leadingDims(y));
    else
      items = numElements(leadingDims(y));
    refusal = whyNot(node, attrs);
  }

  std::string whyNot(const Node& node, const MatMulAttrs& attrs) const {
    const DataType a = node.inputs[0]->dataType(), b = node.inputs[1]->dataType();
    if (a != b || (a != DataType::kF16 && a != DataType::kBF16))
      return str("multiplies f16 or bf16 by the same type, not ", a, " by ", b);
    if (attrs.transposeA || (!attrs.transposeB && !packsB)) return "reads its operands along K";
    if (!isMultiple(depth, 8)) return "needs rows that are a multiple of 16 bytes";
    if (depth.isConstant(0)) return "has nothing to add up";
    return whyNotPrinted(node);
  }
  int64_t pitch() const { return (depth.value() + 63) / 64 * 64; }
};

Verdict supports(const Node& node, const BuildContext& context) {
  if (!hasMma(context.target)) return Verdict::no("needs a GPU of compute capability 8.0");
  const MmaProduct product(node);
  return Verdict{product.refusal};
}

// Sizes not known before the profile count as a typical one here.
std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  const auto sizeOf = [](const Dim& dim) { return dim.isConstant() ? dim.value() : 256; };
  const MmaProduct p(node);
  std::vector<int64_t> packed;
  appendPromising(packed, {sizeOf(p.rows), sizeOf(p.columns), sizeOf(p.depth), sizeOf(p.items)},
                  context.target, kMostTimed);
  return packed;
}

void addSecondOperand(KernelText& kernel, const Node& node, const MmaProduct& product) {
  if (!product.packsB) return kernel.input("b", 1);
  const Value& b = *node.inputs[1];
  const bool isTransposed = node.as<MatMulAttrs>().transposeB;
  const int64_t pitch = product.pitch(), depth = product.depth.value(),
                columns = product.columns.value();
  kernel.packedInput("b", {b.dataType(), {columns, pitch}},
                     packedWeights(b, columns * pitch, [&](int64_t at) -> int64_t {
                       const int64_t n = at / pitch, k = at % pitch;
                       if (k >= depth) return -1;
                       return isTransposed ? n * depth + k : k * columns + n;
                     }));
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const MmaProduct product(node);
  const MmaConfig tile = unpackMma(config);
  const DataType type = node.inputs[0]->dataType();
  const Shape& y = node.output()->shape();
  const size_t rank = y.size();
  const int width = vectorWidth(type, {product.columns});
  KernelText kernel(str("gemm_mma_", type, "_", toString(tile)), node, context);
  kernel.input("a", 0);
  addSecondOperand(kernel, node, product);
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file : {"device/mma.cuh", "gemm/mma.cuh"}) kernel.include(file);

  const Dim tilesM = ceilDiv(product.rows, tile.rows),
            tilesN = ceilDiv(product.columns, tile.columns);
  const Dim pitchB = product.packsB ? Dim(product.pitch()) : product.depth;
  Walk walk = product.isFlat
                  ? Walk(kernel, y, {{"row", axesFrom(0, rank - 1)}, {"column", {rank - 1}}})
                  : Walk(kernel, y,
                         {{"tile.item", axesFrom(0, rank - 2)},
                          {"row", {rank - 2}},
                          {"column", {rank - 1}}});
  const auto itemOf = [&](int input) {
    return product.isFlat ? "0" : walk.position(itemStrides(node.inputs[input]->shape(), y));
  };
  std::string& start = product.packsB ? kernel.early : kernel.body;
  const std::string depth = kernel.size(product.depth);
  printTile(kernel, tile, type, tilesN, tilesM,
            str("int((", depth, " + ", tile.depth - 1, ") / ", tile.depth, ")"));
  start +=
      str("  mma::MatrixSource<Tile, Tile::kColumns, ", product.packsB, "> from(b + (", itemOf(1),
          "), ", kernel.size(pitchB), ", ", depth, ", tile.column, ", kernel.size(product.columns),
          ", tile.first);\n  product.begin(mma::sharedAddress(memory), from, tile.steps);\n");
  kernel.body +=
      str("  mma::MatrixSource<Tile, Tile::kRows, false> left(a + (", itemOf(0), "), ", depth, ", ",
          depth, ", tile.row, ", kernel.size(product.rows),
          ", tile.first);\n  product.add(mma::sharedAddress(memory), left, from, tile.steps);\n");
  printStore(kernel, node, walk, "Index row, Index column", width);
  kernel.body += str("  product.template finish<", width, ">(memory, tile, ",
                     kernel.size(product.rows), ", ", kernel.size(product.columns), ", store);\n");
  return kernel.prepared({.grid = {tilesM * tilesN * product.items * Dim(tile.splits), 1, 1},
                          .block = tile.threads(),
                          .sharedBytes = tile.sharedBytes(),
                          .cluster = tile.splits});
}

}  // namespace

const Kernel& mmaGemmKernel() {
  static constexpr Kernel kKernel{.name = "cuda/gemm_mma",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
