// Matrix products and convolutions of quantised tensors.
#include "onnx/ops/conv.h"
#include "onnx/ops/conv_run_time.h"
#include "onnx/ops/elementwise.h"
#include "onnx/ops/gemm.h"
#include "onnx/ops/quantize.h"
#include "onnx/ops/window.h"
#include "ops/gemm_int8.h"

namespace camshaft::onnx::importer {

namespace {

// One element per row of a matrix, as a column.
Value* perRow(const NodeImport& node, Value* operand) {
  return operand && operand->rank() == 1 ? node.reshape(operand, {operand->shape()[0], 1})
                                         : operand;
}

// One element per output channel, lined up with weights of this rank.
Value* perFilter(const NodeImport& node, Value* operand, int64_t rank) {
  return operand ? alongAxis(node, operand, 0, rank) : nullptr;
}

Value* withoutZeroPoint(const NodeImport& node, Value* x, Value* zeroPoint, DataType type) {
  x = node.cast(x, type);
  return zeroPoint ? node.binary(ScalarOp::kSub, x, node.cast(zeroPoint, type)) : x;
}

bool isByte(const Value* value) {
  return value->dataType() == DataType::kU8 || value->dataType() == DataType::kI8;
}

}  // namespace

// Wider integers than bytes, which com.microsoft's form has, are products of 32 bits.
void importMatMulInteger(NodeImport& node) {
  Value *a = node.input(0), *b = node.input(1);
  Value *aZero = perRow(node, node.optionalInput(2)), *bZero = node.optionalInput(3);
  if (isByte(a) && isByte(b)) {
    node.setOutput(multiply(node, a, b, [&](Value* left, Value* right) {
      return node.add(&ops::MatMulInteger, {left, right, aZero, bZero}, NoAttrs{});
    }));
    return;
  }
  node.setOutput(multiply(node, withoutZeroPoint(node, a, aZero, DataType::kI32),
                          withoutZeroPoint(node, b, bZero, DataType::kI32)));
}

void importConvInteger(NodeImport& node) {
  Value *x = node.input(0), *xZero = node.optionalInput(2);
  Value* weights = weightsOf(node, node.input(1));
  Value* weightZero = perFilter(node, node.optionalInput(3), weights->rank());
  if (hasRunTimeWindow(weights)) {
    x = withoutZeroPoint(node, x, xZero, DataType::kI32);
    weights = withoutZeroPoint(node, weights, weightZero, DataType::kI32);
    return node.setOutput(convolveAtRunTime(node, x, weights, nullptr));
  }
  ConvAttrs attrs = convolutionOf(node, x, weights, xZero);
  attrs.channelsLast = true;
  Value* y = node.add(&ops::ConvInteger, {channelsLast(node, x), weights, xZero, weightZero},
                      std::move(attrs));
  node.setOutput(channelsFirst(node, y));
}

void importQLinearMatMul(NodeImport& node) {
  Value* a =
      dequantize(node, node.input(0), perRow(node, node.input(1)), perRow(node, node.input(2)));
  Value* b = dequantize(node, node.input(3), node.input(4), node.input(5));
  node.setOutput(quantize(node, multiply(node, a, b), node.input(6), node.input(7),
                          node.input(7)->dataType()));
}

void importQLinearConv(NodeImport& node) {
  Value *weights = node.input(3), *weightScale = node.input(4);
  const bool last = node.flag("channels_last");  // of com.microsoft's form
  Value* x = last ? channelsFirst(node, node.input(0)) : node.input(0);
  x = dequantize(node, x, node.input(1), node.input(2));
  Value* w = dequantize(node, weights, perFilter(node, weightScale, weights->rank()),
                        perFilter(node, node.input(5), weights->rank()));
  Value* bias = nullptr;
  if (node.hasInput(8))
    bias = dequantize(node, node.input(8), node.binary(ScalarOp::kMul, node.input(1), weightScale),
                      nullptr);
  Value* y = quantize(node, convolve(node, x, w, bias), node.input(6), node.input(7),
                      node.input(7)->dataType());
  node.setOutput(last ? channelsLast(node, y) : y);
}

}  // namespace camshaft::onnx::importer
