#include "passes/weight_streams.h"

#include <algorithm>

#include "ops/gemm_nbits.h"

namespace camshaft {

constexpr int64_t kMostRows = 8;

static bool isPackedForStreams(const Node& product) {
  const bool areConstant =
      std::all_of(product.inputs.begin() + 1, product.inputs.begin() + product.ownInputs(),
                  [](const Value* input) { return !input || input->isConstant(); });
  // Zero points between numbers have no bits left in bf16.
  const bool hasSuchZeros = product.hasInput(3) && product.input(3)->dataType() != DataType::kU8 &&
                            product.input(0)->dataType() == DataType::kBF16;
  return areConstant && !hasSuchZeros && product.as<MatMulNBitsAttrs>().blockSize % 16 == 0;
}

bool isWeightStream(const Graph& graph, const Node& node, const PassOptions& options) {
  if (node.op != &ops::MatMulNBits || !isPackedForStreams(node)) return false;
  const TensorType& a = node.input(0)->type;
  if (a.type != DataType::kF16 && a.type != DataType::kBF16) return false;
  const Dim rows = numElements(Shape(a.shape.begin(), a.shape.end() - 1)), &depth = a.shape.back();
  if (rangeOf(rows, graph.symbolRange()).max > kMostRows) return false;
  // Rows of a size that changes take the room of all.
  const int64_t room = rows.isConstant() ? rows.value() : kMostRows;
  return depth.isConstant() && depth.value() > 0 && depth.value() % 8 == 0 &&
         room * depth.value() <= options.fusion.streamedElements;
}

}  // namespace camshaft
