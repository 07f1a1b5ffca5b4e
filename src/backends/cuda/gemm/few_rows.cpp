#include "backends/cuda/gemm/few_rows.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/store.h"
#include "backends/cuda/gemm/mma_config.h"
#include "backends/cuda/gemm/operands.h"
#include "backends/cuda/gemm_nbits/unpacking.h"
#include "ops/gemm.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 4;
constexpr int64_t kMostRows = 16;  // beyond, weights are read several times

std::string whyNot(const Node& node) {
  const auto& attrs = node.as<MatMulAttrs>();
  const Value &a = *node.inputs[0], &b = *node.inputs[1];
  const DataType type = a.dataType();
  if (b.dataType() != type || (type != DataType::kF16 && type != DataType::kBF16))
    return str("multiplies f16 or bf16 by the same type, not ", type, " by ", b.dataType());
  if (!b.isConstant() || !isOneMatrix(b.shape())) return "needs a constant matrix, to pack it";
  if (attrs.transposeA) return "reads its first operand along K";
  const Dim& depth = a.shape().back();
  if (!isMultiple(depth, 8) || !depth.isConstant() || depth.value() == 0)
    return "needs rows that are a multiple of 16 bytes";
  return whyNotPrinted(node);
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (!hasMma(context.target)) return Verdict::no("needs a GPU of compute capability 8.0");
  return Verdict{whyNot(node)};
}

UnpackingProblem problemOf(const Node& node, const BuildContext& context) {
  const DataType type = node.inputs[0]->dataType();
  const Dim rows = rowsOfProduct(node);
  return {.rows = context.opt(rows),
          .elementBytes = 2,
          .hasFixedRows = rows.isConstant(),
          .mostRows = context.max(rows),
          .layout = {.columns = node.output()->shape().back().value(),
                     .depth = node.inputs[0]->shape().back().value(),
                     .bits = 16,
                     .factor = type,
                     .scale = type}};
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  return promisingTiles(problemOf(node, context), context.target, kMostTimed);
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const UnpackingProblem problem = problemOf(node, context);
  if (problem.rows > kMostRows) return Prepared::no(str("is for up to ", kMostRows, " rows"));
  return prepareUnpacking(str("gemm_few_rows_", node.inputs[0]->dataType()), node, context, problem,
                          unpackTile(config), [layout = problem.layout, &node] {
                            return packChunks(layout, *node.inputs[1],
                                              !node.as<MatMulAttrs>().transposeB);
                          });
}

}  // namespace

const Kernel& fewRowsKernel() {
  static constexpr Kernel kKernel{.name = "cuda/gemm_few_rows",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
