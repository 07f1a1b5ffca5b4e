#include "backends/cuda/gemm_nbits/unpacking.h"

#include <cmath>
#include <numeric>

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/store.h"
#include "backends/cuda/gemm/mma_config.h"
#include "backends/cuda/gemm_nbits/tile_config.h"
#include "ops/gemm_nbits.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 5;

Zeros zerosOf(const Node& node) {
  if (!node.hasInput(3)) return Zeros::kMiddle;
  const ConstTensorView zeros = node.inputs[3]->view();
  for (int64_t i = 0; i < zeros.count(); ++i) {
    const double zero = readElement(zeros.type, zeros.data, i);
    if (zero != std::floor(zero) || zero < 0 || zero > 255) return Zeros::kFraction;
  }
  return Zeros::kWhole;
}

std::string whyNot(const Node& node) {
  const auto& attrs = node.as<MatMulNBitsAttrs>();
  const Value& a = *node.inputs[0];
  const DataType type = a.dataType();
  if (type != DataType::kF16 && type != DataType::kBF16 && type != DataType::kF32)
    return str("multiplies f16, bf16 and f32, not ", type);
  if (std::gcd(attrs.blockSize, kChunkDepth) < 16)
    return "needs blocks of a multiple of 16 weights";
  for (int i = 1; i < node.ownInputs(); ++i)
    if (node.inputs[i] && !node.inputs[i]->isConstant())
      return "needs constant weights, to pack them when building";
  if (attrs.isGated() && node.inputs[1]->shape()[0].value() % (2 * kChunkColumns) != 0)
    return "has gates of whole tiles alone";
  if (node.hasInput(4) && bitsOf(node.inputs[4]->dataType()) > 32) return "normalises in f32";
  const Dim& depth = a.shape().back();
  if (!depth.isConstant() || depth.value() * bitsOf(type) / 8 % 16 != 0 || depth.value() == 0)
    return "needs rows that are a multiple of 16 bytes";
  if (type != DataType::kF16 && zerosOf(node) == Zeros::kFraction)
    return str("needs zero points that are whole numbers of its weights' range for ", type);
  if (attrs.isGated())
    if (std::string reason = whyNotPrinted(attrs.gate); !reason.empty()) return reason;
  return whyNotPrinted(node);
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (!hasMma(context.target)) return Verdict::no("needs a GPU of compute capability 8.0");
  return Verdict{whyNot(node)};
}

UnpackingProblem problemOf(const Node& node, const BuildContext& context) {
  const auto& attrs = node.as<MatMulNBitsAttrs>();
  const DataType type = node.inputs[0]->dataType();
  const Dim rows = rowsOfProduct(node);
  return {.rows = context.opt(rows),
          .elementBytes = bitsOf(type) / 8,
          .hasFixedRows = rows.isConstant(),
          .mostRows = context.max(rows),
          .layout = {.columns = node.inputs[1]->shape()[0].value(),
                     .depth = node.inputs[0]->shape().back().value(),
                     .bits = attrs.bits,
                     .blockSize = attrs.blockSize,
                     .factor = type == DataType::kF16 ? DataType::kF16 : DataType::kBF16,
                     .scale = type,
                     .zeros = zerosOf(node),
                     .halves = attrs.isGated() ? 2 : 1}};
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  return promisingTiles(problemOf(node, context), context.target, kMostTimed);
}

std::string_view toString(Zeros zeros) {
  return zeros == Zeros::kMiddle ? "kMiddle" : zeros == Zeros::kWhole ? "kWhole" : "kFraction";
}

// What tiles of both kinds begin with.
std::string formatText(const ChunkLayout& layout, DataType type) {
  return str(storageType(type), ", ", storageType(layout.scale), ", ", layout.bits,
             ", nbits::Zeros::", toString(layout.zeros), ", ", layout.scaleDepth(), ", ");
}

// The type Tile, and the copies of weights that are begun before the kernel waits for others.
void printStream(KernelText& kernel, const UnpackingProblem& problem, const UnpackingTile& tile,
                 DataType type) {
  const ChunkLayout& layout = problem.layout;
  kernel.early +=
      str("  extern __shared__ __align__(128) char memory[];\n"
          "  using Tile = nbits::StreamTiling<",
          formatText(layout, type), tile.slices, ", ", problem.stages(tile), ", ",
          problem.unit(tile), ", ", layout.depth, ", ", layout.halves, ", ",
          problem.storedRows(tile), ">;\n  nbits::ChunkStream<Tile> stream(weights, ",
          layout.tiles(), ", mma::sharedAddress(memory));\n  stream.begin();\n");
}

int64_t blocksOfStream(const UnpackingProblem& problem, const UnpackingTile& tile,
                       const BuildTarget& target) {
  const int64_t tiles = problem.layout.tiles() / problem.layout.halves;
  return tile.streams == UnpackingTile::kOnce
             ? tiles
             : std::min<int64_t>(tiles, int64_t{tile.streams} * target.multiprocessors);
}

// The norm of the rows it multiplies, if there is one.
const MatMulNBitsAttrs* normOf(const Node& node) {
  const auto* attrs = node.op == &ops::MatMulNBits ? &node.as<MatMulNBitsAttrs>() : nullptr;
  return attrs && attrs->rms ? attrs : nullptr;
}

// Rows of A into shared memory. Factors of a norm are constants, which are loaded before the kernel
// waits for others.
void printRows(KernelText& kernel, const Node& node, const Dim& rows) {
  const std::string what = str("(memory, a, ", kernel.size(rows));
  const MatMulNBitsAttrs* norm = normOf(node);
  if (!norm) {
    kernel.body += str("  nbits::loadRows<Tile>", what, ");\n");
    return;
  }
  kernel.early += node.hasInput(4)
                      ? str("  const nbits::RowFactors<Tile, ",
                            storageType(node.inputs[4]->dataType()), "> rowFactors(factors);\n")
                      : "  const nbits::NoFactors<Tile> rowFactors;\n";
  kernel.body += str("  nbits::loadNormalisedRows<Tile>", what, ", ",
                     literal(norm->epsilon, DataType::kF32), ", rowFactors);\n");
}

// What is made of sums: join(first, second) where there are gates.
std::string joinText(KernelText& kernel, const Node& node) {
  if (node.op != &ops::MatMulNBits || !node.as<MatMulNBitsAttrs>().isGated())
    return "nbits::NoGate{}";
  std::string statements;
  const std::vector<std::string> sums{"first", "second"};
  const std::string result =
      printExpr(node.as<MatMulNBitsAttrs>().gate, sums, "gate", statements, kernel.asArguments());
  kernel.body += str("  const auto join = [&](float first, float second) -> float {\n", statements,
                     "    return ", result, ";\n  };\n");
  return "join";
}

// The types Tile and TilePlace, the product, and the copies of weights that are begun before the
// kernel waits for others.
void printTile(KernelText& kernel, const UnpackingProblem& problem, const UnpackingTile& tile,
               DataType type, const Dim& tilesN, const Dim& tilesM) {
  const ChunkLayout& layout = problem.layout;
  kernel.early += str(
      "  extern __shared__ __align__(128) char memory[];\n  using Tile = nbits::Tiling<",
      formatText(layout, type), tile.rows, ", ", tile.columns, ", ", tile.warpsN, ", ", tile.slices,
      ", ", problem.stages(tile), ", ", tile.splits, ", ", problem.storedRows(tile),
      ">;\n  const mma::TilePlace<Tile> tile(", kernel.size(tilesN), ", ", kernel.size(tilesM),
      ", ", problem.steps(tile),
      ");\n  nbits::Product<Tile> product;\n"
      "#ifdef CAMSHAFT_EMULATOR\n  if (tile.rank > 0) return;\n#endif\n"
      "  nbits::ChunkSource<Tile> from(weights, ",
      layout.chunks(), ", tile.column, ", kernel.size(layout.columns),
      ", tile.first);\n  mma::beginStages<Tile>(mma::sharedAddress(memory), from, tile.steps);\n");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const UnpackingProblem problem = problemOf(node, context);
  if ((problem.layout.halves > 1 || normOf(node)) && !unpackTile(config).streams)
    return Prepared::no("has gates and norms in streams alone");
  return prepareUnpacking(
      str("gemm_nbits_", node.inputs[0]->dataType(), "_", problem.layout.bits, "bits"), node,
      context, problem, unpackTile(config),
      [layout = problem.layout, &node] { return packChunks(layout, node); });
}

}  // namespace

Dim rowsOfProduct(const Node& node) {
  const Shape& y = node.output()->shape();
  return numElements(Shape(y.begin(), y.end() - 1));
}

Prepared prepareUnpacking(const std::string& what, const Node& node, const BuildContext& context,
                          const UnpackingProblem& problem, const UnpackingTile& tile,
                          std::function<std::vector<std::byte>()> pack) {
  const ChunkLayout& layout = problem.layout;
  const DataType type = node.inputs[0]->dataType();
  const Shape& y = node.output()->shape();
  const Dim rows = rowsOfProduct(node);
  const int width = vectorWidth(type, {y.back()});
  KernelText kernel(str(what, normOf(node) ? "_rms_norm_" : "_", toString(tile)), node, context);
  kernel.input("a", 0);
  kernel.packedInput("weights",
                     {DataType::kU8, {layout.tiles(), layout.chunks(), layout.chunkBytes()}},
                     std::move(pack));
  if (normOf(node) && node.hasInput(4)) {
    const ConstTensorView factors = node.inputs[4]->view();
    const auto* bytes = factors.as<std::byte>();
    kernel.packedInput("factors", node.inputs[4]->type,
                       std::vector<std::byte>(bytes, bytes + factors.bytes()));
  }
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file :
       {"device/mma.cuh", "gemm/mma.cuh", "gemm_nbits/unpack.cuh", "gemm_nbits/tile.cuh"})
    kernel.include(file);
  if (tile.streams)
    for (const char* file : {"device/barriers.cuh", "gemm_nbits/stream.cuh"}) kernel.include(file);
  const Dim tilesM = ceilDiv(rows, tile.rows), tilesN = ceilDiv(y.back(), tile.columns);
  if (tile.streams)
    printStream(kernel, problem, tile, type);
  else
    printTile(kernel, problem, tile, type, tilesN, tilesM);
  if (tile.streams)
    printRows(kernel, node, rows);
  else
    kernel.body += str("  nbits::RowSource<Tile> left(a, ", kernel.size(layout.depth),
                       ", tile.row, ", kernel.size(rows),
                       ", tile.first);\n"
                       "  mma::forEachStage<Tile>(mma::sharedAddress(memory), left, from, "
                       "tile.steps, [&](int offset) { product.addStage(memory + offset); });\n");
  Walk walk(kernel, y, {{"row", axesFrom(0, y.size() - 1)}, {"column", {y.size() - 1}}});
  printStore(kernel, node, walk, "Index row, Index column", width);
  const std::string inside = str(kernel.size(rows), ", ", kernel.size(y.back()), ", store);\n");
  const std::string join = tile.streams ? joinText(kernel, node) : "";
  kernel.body +=
      tile.streams
          ? str("  nbits::multiplyStream<Tile, ", width, ">(memory, stream, ", join, ", ", inside)
          : str("  product.template finish<", width, ">(memory, tile, ", inside);
  const Dim blocks = tile.streams ? Dim(blocksOfStream(problem, tile, context.target))
                                  : tilesM * tilesN * Dim(tile.splits);
  return kernel.prepared({.grid = {blocks, 1, 1},
                          .block = tile.threads(),
                          .sharedBytes = problem.sharedBytes(tile),
                          .cluster = tile.splits});
}

const Kernel& unpackingNBitsKernel() {
  static constexpr Kernel kKernel{.name = "cuda/gemm_nbits",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
