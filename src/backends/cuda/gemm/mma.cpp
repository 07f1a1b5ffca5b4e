#include "backends/cuda/gemm/mma.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/gemm/hopper/hopper.h"
#include "backends/cuda/gemm/mma_config.h"
#include "backends/cuda/gemm/operands.h"
#include "backends/cuda/codegen/store.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 4;

// Matrices that meet the same B are one tall matrix.
struct MmaProduct {
  Dim rows, columns, depth, items = 1;
  bool transposesB = false;
  bool packsB = false;  // constant, as [columns, whole steps of depth]
  bool isFlat = false;
  std::string refusal;  // why it cannot be; empty: it can

  MmaProduct(const Node& node, const BuildTarget& target) {
    const MatMulAttrs attrs = matMulAttrsOf(node);
    const Value &a = *node.inputs[0], &b = *node.inputs[1];
    const Shape& y = node.output()->shape();
    rows = y[y.size() - 2];
    columns = y.back();
    depth = a.shape()[a.shape().size() - (attrs.transposeA ? 2 : 1)];
    transposesB = attrs.transposeB;
    packsB = b.isConstant() && isOneMatrix(b.shape());
    isFlat = isOneMatrix(b.shape());
    if (isFlat)
      rows *= numElements(leadingDims(y));
    else
      items = numElements(leadingDims(y));
    refusal = whyNot(node, attrs, target);
  }

  std::string whyNot(const Node& node, const MatMulAttrs& attrs, const BuildTarget& target) const {
    const DataType a = node.inputs[0]->dataType(), b = node.inputs[1]->dataType();
    if (std::string reason = whyNoMma(target, a, b); !reason.empty()) return reason;
    if (attrs.transposeA || (!transposesB && !packsB)) return "reads its operands along K";
    if (!isMultiple(depth, 128 / bitsOf(a))) return "needs rows that are a multiple of 16 bytes";
    if (depth.isConstant(0)) return "has nothing to add up";
    if (std::string reason = whyNotCentred(node); !reason.empty()) return reason;
    if (std::string reason = packsB ? whyWiderCentred(node) : ""; !reason.empty()) return reason;
    return whyNotPrinted(node);
  }
};

Verdict supports(const Node& node, const BuildContext& context) {
  return Verdict{MmaProduct(node, context.target).refusal};
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  const MmaProduct p(node, context.target);
  const MmaProblem problem{.rows = context.opt(p.rows),
                           .columns = context.opt(p.columns),
                           .depth = context.opt(p.depth),
                           .batch = context.opt(p.items),
                           .type = node.inputs[0]->dataType()};
  std::vector<int64_t> packed;
  if (!fillsHopper(problem, context.target) || !hopperGemmKernel().supports(node, context))
    appendPromising(packed, problem, context.target, kMostTimed);
  return packed;
}

// The second operand as the kernel reads it, and what there is to add to a column for the first
// operand's zero point.
struct SecondOperand {
  DataType type;
  Dim pitch;
  std::string term = "mma::NoTerm{}";
};

SecondOperand declareSecondOperand(KernelText& kernel, const Node& node,
                                   const MmaProduct& product) {
  if (!product.packsB) {
    kernel.input("b", 1);
    return {node.inputs[1]->dataType(), product.depth};
  }
  const DataType type = centredType(node);
  const int64_t depth = product.depth.value(), columns = product.columns.value(),
                pitch = mmaPitch(depth, type);
  const auto pack = [&node, transposes = product.transposesB, depth, columns, pitch] {
    return packedWeights(centredWeights(node), columns * pitch, [=](int64_t at) -> int64_t {
      const int64_t n = at / pitch, k = at % pitch;
      if (k >= depth) return -1;
      return transposes ? n * depth + k : k * columns + n;
    });
  };
  SecondOperand second{type, pitch};
  if (const std::string zero = declareZeroPoint(kernel, node); !zero.empty()) {
    declareRowSums(kernel, "row_sums", type, pack(), columns);
    second.term = str("mma::ZeroTerm{", zero, ", row_sums}");
  }
  kernel.packedInput("b", {type, {columns, pitch}}, pack);
  return second;
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const MmaProduct product(node, context.target);
  const MmaConfig tile = unpackMma(config);
  const DataType type = node.inputs[0]->dataType();
  const Shape& y = node.output()->shape();
  const size_t rank = y.size();
  const int width = vectorWidth(type, {product.columns}, kMostComputed);
  KernelText kernel(str("gemm_mma_", toString(tile, type)), node, context);
  kernel.input("a", 0);
  const SecondOperand second = declareSecondOperand(kernel, node, product);
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file : {"device/mma.cuh", "gemm/mma.cuh"}) kernel.include(file);

  const Dim tilesM = ceilDiv(product.rows, tile.rows),
            tilesN = ceilDiv(product.columns, tile.columns);
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
  const int step = tile.depth(type);
  printTile(kernel, tile, type, second.type, tilesN, tilesM,
            str("int((", depth, " + ", step - 1, ") / ", step, ")"));
  start += str("  mma::MatrixSource<Tile, Tile::B, Tile::kColumns, ", product.packsB,
               "> from(b + (", itemOf(1), "), ", kernel.size(second.pitch), ", ", depth,
               ", tile.column, ", kernel.size(product.columns),
               ", tile.first);\n  product.begin(mma::sharedAddress(memory), from, tile.steps);\n");
  kernel.body +=
      str("  mma::MatrixSource<Tile, Tile::A, Tile::kRows, false> left(a + (", itemOf(0), "), ",
          depth, ", ", depth, ", tile.row, ", kernel.size(product.rows),
          ", tile.first);\n  product.add(mma::sharedAddress(memory), left, from, tile.steps);\n");
  printStore(kernel, node, walk, "Index row, Index column", width);
  kernel.body +=
      str("  product.template finish<", width, ">(memory, tile, ", kernel.size(product.rows), ", ",
          kernel.size(product.columns), ", 0, ", second.term, ", store);\n");
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
