#include "onnx/formula.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Before opset 11 the bounds are attributes.
void importClip6(NodeImport& node) {
  Value* x = node.input(0);
  Formula formula;
  Term result = formula.input(0, x->dataType());
  if (node.has("min")) result = larger(result, node.number("min", 0));
  if (node.has("max")) result = smaller(result, node.number("max", 0));
  node.setOutput(node.pointwise({x}, formula.take(result)));
}

void importClip(NodeImport& node) {
  Value* x = node.input(0);
  const DataType type = x->dataType();
  std::vector<Value*> inputs{x};
  Formula formula;
  Term result = formula.input(0, type);
  for (const int bound : {1, 2}) {
    Value* limit = node.optionalInput(bound);
    if (!limit) continue;
    const auto known = isFloat(type) ? node.knownNumbers(limit) : std::nullopt;
    const bool isNumber = known && known->size() == 1;
    if (!isNumber) inputs.push_back(node.reshape(limit, {}));
    const Term term = isNumber
                          ? formula.number(known->front(), type)
                          : formula.input(static_cast<int>(inputs.size()) - 1, limit->dataType());
    result = bound == 1 ? larger(result, term) : smaller(result, term);
  }
  node.setOutput(inputs.size() == 1 && formula.typeOf(result) == type && result.at == 0
                     ? x
                     : node.pointwise(std::move(inputs), formula.take(result)));
}

}  // namespace camshaft::onnx::importer
