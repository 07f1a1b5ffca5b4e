#include "backends/cuda/gemm_nbits/plain.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/store.h"
#include "ops/gemm_nbits.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kSide = 16;           // PlainTile::kSide
constexpr int kOwnColumns = 4;      // of a thread
constexpr int kOwnRows[] = {1, 4};  // as configurations number them

Verdict supports(const Node& node, const BuildContext& context) {
  const auto& attrs = node.as<MatMulNBitsAttrs>();
  if (attrs.isGated() || attrs.rms) return Verdict::no("has no gates and norms");
  return isPrinted(node, context);
}

std::vector<int64_t> configurations(const Node&, const BuildContext&) { return {0, 1}; }

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const auto& attrs = node.as<MatMulNBitsAttrs>();
  const Value &a = *node.inputs[0], &scales = *node.inputs[2];
  const Shape& y = node.output()->shape();
  const Dim rows = numElements(Shape(y.begin(), y.end() - 1)), columns = y.back(),
            depth = a.shape().back();
  const std::string_view sum = computeType(node.resultBeforeEpilogue().type);
  KernelText kernel(str("gemm_nbits_plain_", a.dataType(), "_", attrs.bits, "bits_",
                        kOwnRows[config] * kSide, "x", kOwnColumns * kSide),
                    node, context);
  kernel.input("a", 0);
  kernel.input("numbers", 1);
  kernel.input("scales", 2);
  kernel.input("zeros", 3);
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file : {"gemm/plain.cuh", "gemm_nbits/plain.cuh"}) kernel.include(file);
  const Dim tilesM = ceilDiv(rows, kOwnRows[config] * kSide),
            tilesN = ceilDiv(columns, kOwnColumns * kSide);
  const std::string_view scale = storageType(scales.dataType());
  const std::string_view zero = node.hasInput(3) ? storageType(node.inputs[3]->dataType()) : scale;
  kernel.body += str("  using Tile = PlainTile<", sum, ", ", kOwnRows[config], ", ", kOwnColumns,
                     ", false, false>;\n  __shared__ Tile::Memory memory;\n"
                     "  Tile tile(memory, Index(blockIdx.x) / ",
                     kernel.size(tilesN), " * Tile::kRows, Index(blockIdx.x) % ",
                     kernel.size(tilesN), " * Tile::kColumns);\n");
  Walk walk(kernel, y, {{"row", axesFrom(0, y.size() - 1)}, {"column", {y.size() - 1}}});
  printStore(kernel, node, walk, "Index row, Index column", 1);
  kernel.body += str("  tile.multiply(StridedMatrix<", storageType(a.dataType()), ">{a, ",
                     kernel.size(depth), ", 1}, ", kernel.size(rows), ", BlockMatrix<", sum, ", ",
                     attrs.bits, ", ", attrs.blockSize, ", ", node.hasInput(3), ", ", scale, ", ",
                     zero, ">{numbers, scales, ", node.hasInput(3) ? "zeros" : "nullptr", ", ",
                     kernel.size(ceilDiv(depth, attrs.blockSize)), "}, ", kernel.size(columns),
                     ", ", kernel.size(depth), ");\n  tile.finish(", kernel.size(rows), ", ",
                     kernel.size(columns), ", store);\n");
  return kernel.prepared({.grid = {tilesM * tilesN, 1, 1}, .block = kSide * kSide});
}

}  // namespace

const Kernel& plainNBitsKernel() {
  static constexpr Kernel kKernel{.name = "cuda/gemm_nbits_plain",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
