#include "onnx/formula.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importWhere(NodeImport& node) {
  Value *condition = node.input(0), *a = node.input(1), *b = node.input(2);
  if (condition->dataType() != DataType::kBool)
    node.invalid("its condition must be bool and is ", condition->dataType());
  if (a->dataType() != b->dataType())
    node.invalid("its choices have different types, ", a->dataType(), " and ", b->dataType());
  Formula formula;
  const Term chosen = formula.input(0, DataType::kBool);
  const Term yes = formula.input(1, a->dataType());
  const Term result = where(chosen, yes, formula.input(2, b->dataType()));
  node.setOutput(node.pointwise({condition, a, b}, formula.take(result)));
}

}  // namespace camshaft::onnx::importer
