#include "onnx/ops/tensorrt/packed_sequences.h"

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/reduce.h"

namespace camshaft::onnx::importer {

Value* beginOfSequences(const NodeImport& node, Value* begins, const Dim& words) {
  Formula formula;
  const Term word = formula.input(0, DataType::kI64), begin = formula.input(1, DataType::kI64);
  const Term result = where(begin <= word, begin, 0);
  Value* place = node.reshape(counting(node, DataType::kI64, words), {words, 1});
  Value* candidates =
      node.pointwise({place, node.cast(begins, DataType::kI64)}, formula.take(result));
  return reduce(node, ReduceKind::kMax, candidates, {1}, false);
}

Value* placesInSequences(const NodeImport& node, Value* begins, const Dim& words) {
  return node.binary(ScalarOp::kSub, counting(node, DataType::kI64, words),
                     beginOfSequences(node, begins, words));
}

}  // namespace camshaft::onnx::importer
