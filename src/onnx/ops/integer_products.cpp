// Matrix products and convolutions of quantised tensors.
#include "onnx/ops/conv.h"
#include "onnx/ops/elementwise.h"
#include "onnx/ops/matmul.h"
#include "onnx/ops/quantize.h"

namespace camshaft::onnx::importer {

namespace {

Value* withoutZeroPoint(const NodeImport& node, Value* x, Value* zeroPoint, DataType type) {
  x = node.cast(x, type);
  return zeroPoint ? node.binary(ScalarOp::kSub, x, node.cast(zeroPoint, type)) : x;
}

// One element per row of a matrix, as a column.
Value* perRow(const NodeImport& node, Value* operand) {
  return operand && operand->rank() == 1 ? node.reshape(operand, {operand->shape()[0], 1})
                                         : operand;
}

// One element per output channel, lined up with weights of this rank.
Value* perFilter(const NodeImport& node, Value* operand, int64_t rank) {
  return operand ? alongAxis(node, operand, 0, rank) : nullptr;
}

}  // namespace

// Products of f32 are the fast ones, and sums of whole numbers in them exact up to 2^24. Those of
// 8-bit numbers that are longer are taken of a's high and low four bits apart.
void importMatMulInteger(NodeImport& node) {
  const bool bytes =
      bitsOf(node.input(0)->dataType()) == 8 && bitsOf(node.input(1)->dataType()) == 8;
  const DataType type = bytes ? DataType::kF32 : DataType::kI32;
  Value* a = withoutZeroPoint(node, node.input(0), perRow(node, node.optionalInput(2)), type);
  Value* b = withoutZeroPoint(node, node.input(1), node.optionalInput(3), type);
  if (!bytes) return node.setOutput(multiply(node, a, b));
  const auto product = [&](Value* part) {
    return node.cast(multiply(node, part, b), DataType::kI32);
  };
  constexpr int64_t kExactTerms = (1 << 24) / (255 * 255);
  const Dim terms = a->rank() > 0 ? a->shape().back() : Dim(1);
  if (terms.isConstant() && terms.value() <= kExactTerms) return node.setOutput(product(a));
  Value* high = node.unary(ScalarOp::kFloor, node.binary(ScalarOp::kMul, a, 1.0 / 16));
  Value* low = node.binary(ScalarOp::kSub, a, node.binary(ScalarOp::kMul, high, 16.0));
  node.setOutput(
      node.binary(ScalarOp::kAdd, node.binary(ScalarOp::kMul, product(high), 16.0), product(low)));
}

// Sums of 8-bit products are exact in f32 up to 2^24, more terms than real kernels have.
void importConvInteger(NodeImport& node) {
  Value* x = withoutZeroPoint(node, node.input(0), node.optionalInput(2), DataType::kF32);
  Value* weights = node.input(1);
  weights = withoutZeroPoint(node, weights, perFilter(node, node.optionalInput(3), weights->rank()),
                             DataType::kF32);
  node.setOutput(node.cast(convolve(node, x, weights, nullptr), DataType::kI32));
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
