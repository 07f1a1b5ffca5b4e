// GELU of com.microsoft, with a bias or as an approximation.
#include "onnx/formula.h"
#include "onnx/node_import.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

void importBiasGelu(NodeImport& node) {
  Value *x = node.input(0, Ranks::from(1)), *bias = node.input(1, 1);
  requireShape(node, bias, "bias", {x->shape().back()});
  node.setOutput(node.unary(ScalarOp::kGelu, node.binary(ScalarOp::kAdd, x, bias)));
}

void importFastGelu(NodeImport& node) {
  Value* x = node.input(0);
  if (Value* bias = node.optionalInput(1, 1)) {
    requireShape(node, bias, "bias", {node.input(0, Ranks::from(1))->shape().back()});
    x = node.binary(ScalarOp::kAdd, x, bias);
  }
  node.setOutput(node.unary(ScalarOp::kGeluTanh, x));
}

void importQuickGelu(NodeImport& node) {
  Value* x = node.input(0);
  Formula formula;
  const Term term = formula.input(0, x->dataType());
  const Term result = term * apply(ScalarOp::kSigmoid, term * node.number("alpha", 1.702));
  node.setOutput(node.pointwise({x}, formula.take(result)));
}

}  // namespace camshaft::onnx::importer
