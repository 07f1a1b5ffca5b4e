// Sum, Mean, Max and Min of any number of tensors.
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

namespace {

Value* combine(const NodeImport& node, ScalarOp op) {
  const std::vector<Value*> inputs = node.allInputs();
  if (inputs.empty()) node.invalid("it has no inputs");
  Value* result = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) result = node.binary(op, result, inputs[i]);
  return result;
}

}  // namespace

void importSum(NodeImport& node) { node.setOutput(combine(node, ScalarOp::kAdd)); }
void importMax(NodeImport& node) { node.setOutput(combine(node, ScalarOp::kMax)); }
void importMin(NodeImport& node) { node.setOutput(combine(node, ScalarOp::kMin)); }
void importMean(NodeImport& node) {
  Value* sum = combine(node, ScalarOp::kAdd);
  node.setOutput(node.inputCount() == 1 ? sum
                                        : node.binary(ScalarOp::kDiv, sum, node.inputCount()));
}

}  // namespace camshaft::onnx::importer
