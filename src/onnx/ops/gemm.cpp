// MatMul and Gemm.
#include "onnx/ops/gemm.h"
#include "onnx/size_rules.h"

#include "ops/gemm.h"

namespace camshaft::onnx::importer {

Value* multiply(const NodeImport& node, Value* a, Value* b,
                FunctionRef<Value*(Value* a, Value* b)> multiplied) {
  const bool vectorA = a->rank() == 1, vectorB = b->rank() == 1;
  if (a->rank() == 0 || b->rank() == 0) node.invalid("its operands must not be scalars");
  if (vectorA) a = node.reshape(a, {1, a->shape()[0]});
  if (vectorB) b = node.reshape(b, {b->shape()[0], 1});
  Value* product = multiplied(a, b);
  Shape shape = product->shape();
  if (vectorB) shape.pop_back();
  if (vectorA) shape.erase(shape.end() - (vectorB ? 1 : 2));
  return node.reshape(product, std::move(shape));
}

Value* multiply(const NodeImport& node, Value* a, Value* b) {
  return multiply(node, a, b, [&](Value* left, Value* right) {
    return node.add(&ops::MatMul, {left, right}, MatMulAttrs{});
  });
}

void importMatMul(NodeImport& node) {
  node.setOutput(multiply(node, node.input(0), node.input(1)));
}

void importGemm(NodeImport& node) {
  Value *a = node.input(0, 2), *b = node.input(1, 2);
  MatMulAttrs attrs;
  attrs.transposeA = node.flag("transA");
  attrs.transposeB = node.flag("transB");
  Value* result = node.add(&ops::MatMul, {a, b}, attrs);
  const double alpha = node.number("alpha", 1), beta = node.number("beta", 1);
  if (alpha != 1) result = node.binary(ScalarOp::kMul, result, alpha);
  if (node.hasInput(2) && beta != 0) {
    Value* c = node.input(2);
    requireBroadcastsTo(node, c, "bias", result->shape());
    if (beta != 1) c = node.binary(ScalarOp::kMul, c, beta);
    result = node.binary(ScalarOp::kAdd, result, c);
  }
  node.setOutput(result);
}

}  // namespace camshaft::onnx::importer
