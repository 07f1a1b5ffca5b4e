// Products and recurrences of com.microsoft whose weights are 8-bit integers.
#include "onnx/ops/gemm.h"
#include "onnx/ops/quantize.h"
#include "onnx/ops/rnn.h"
#include "onnx/size_rules.h"
#include "ops/gemm.h"

namespace camshaft::onnx::importer {

namespace {

Value* withBias(const NodeImport& node, Value* x, int input) {
  if (!node.hasInput(input)) return x;
  requireBroadcastsTo(node, node.input(input), "bias", x->shape());
  return node.binary(ScalarOp::kAdd, x, node.input(input));
}

}  // namespace

// a is rounded to u8 as its range at run time asks, then multiplied with b's numbers.
void importDynamicQuantizeMatMul(NodeImport& node) {
  const DynamicallyQuantized a = quantizeDynamically(node, node.input(0));
  Value* rounded = dequantize(node, a.values, a.scale, a.zeroPoint);
  Value* b = dequantize(node, node.input(1), node.input(2), node.optionalInput(3));
  node.setOutput(withBias(node, multiply(node, rounded, b), 4));
}

void importMatMulIntegerToFloat(NodeImport& node) {
  Value* a = dequantize(node, node.input(0), node.input(2), node.optionalInput(4));
  Value* b = dequantize(node, node.input(1), node.input(3), node.optionalInput(5));
  node.setOutput(withBias(node, multiply(node, a, b), 6));
}

// alpha * op(a) · op(b) + c, where c counts in steps of alpha * aScale * bScale; quantised when
// there is a scale for the result.
void importQGemm(NodeImport& node) {
  const double alpha = node.number("alpha", 1);
  MatMulAttrs attrs;
  attrs.transposeA = node.flag("transA");
  attrs.transposeB = node.flag("transB");
  Value *aScale = node.input(1), *b = node.input(3, 2), *bScale = node.input(4);
  const auto perColumn = [&](Value* operand) {
    return quantizationOperand(node, operand, b, attrs.transposeB ? 0 : 1, 0);
  };
  Value* y = node.add(&ops::MatMul,
                      {dequantize(node, node.input(0, 2), aScale, node.optionalInput(2)),
                       dequantize(node, b, perColumn(bScale), perColumn(node.optionalInput(5)))},
                      attrs);
  if (alpha != 1) y = node.binary(ScalarOp::kMul, y, alpha);
  if (Value* c = node.optionalInput(6)) {
    requireBroadcastsTo(node, c, "bias", y->shape());
    Value* step = node.binary(ScalarOp::kMul, node.binary(ScalarOp::kMul, bScale, aScale), alpha);
    Value* added =
        node.binary(ScalarOp::kMul, node.cast(c, DataType::kF64), node.cast(step, DataType::kF64));
    y = node.binary(ScalarOp::kAdd, y, node.cast(added, y->dataType()));
  }
  if (Value* scale = node.optionalInput(7)) {
    Value* zeroPoint = node.optionalInput(8);
    y = quantize(node, y, scale, zeroPoint,
                 zeroPoint ? zeroPoint->dataType() : node.input(0)->dataType());
  }
  node.setOutput(y);
}

namespace {

// [dirs, features, gates] with scale and zero point per direction or per column, as the plain
// layer's [dirs, gates, features].
Value* gateWeights(const NodeImport& node, int weights, int scale) {
  const auto aligned = [&](Value* operand) {
    const Shape& shape = operand->shape();
    if (operand->rank() == 1) return node.reshape(operand, {shape[0], 1, 1});
    return node.reshape(operand, {shape[0], 1, shape[1]});
  };
  Value* values = dequantize(node, node.input(weights, 3), aligned(node.input(scale, {1, 2})),
                             aligned(node.input(scale + 1, {1, 2})));
  return node.transpose(values, {0, 2, 1});
}

}  // namespace

// ONNX Runtime also rounds x and the state to 8 bits before each product; they stay floats here.
void importDynamicQuantizeLSTM(NodeImport& node) {
  std::vector<Value*> inputs{node.input(0), gateWeights(node, 1, 8), gateWeights(node, 2, 10)};
  for (int i = 3; i < 8; ++i) inputs.push_back(node.optionalInput(i));
  addRecurrent(node, RecurrentKind::kLstm, std::move(inputs));
}

}  // namespace camshaft::onnx::importer
