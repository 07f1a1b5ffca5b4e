// Operators of com.microsoft on 8-bit tensors: dequantised, computed, and quantised again.
#include "onnx/formula.h"
#include "onnx/ops/conv.h"
#include "onnx/ops/pool.h"
#include "onnx/ops/quantize.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/softmax.h"

namespace camshaft::onnx::importer {

namespace {

// A scale or zero point, of which there is one for all elements.
Value* oneNumber(const NodeImport& node, Value* operand) {
  return operand ? node.reshape(operand, {}) : nullptr;
}

// A tensor and its scale and zero point, which stand in this order from input `first` on.
Value* dequantized(const NodeImport& node, int first) {
  return dequantize(node, node.input(first), oneNumber(node, node.input(first + 1)),
                    oneNumber(node, node.optionalInput(first + 2)));
}

// With scale and zero point from input `first` on; in the type of the node's tensors when the zero
// point is left out.
Value* quantized(const NodeImport& node, Value* x, int first, DataType type) {
  Value* zeroPoint = oneNumber(node, node.optionalInput(first + 1));
  return quantize(node, x, oneNumber(node, node.input(first)), zeroPoint,
                  zeroPoint ? zeroPoint->dataType() : type);
}

void importQLinearBinary(NodeImport& node, ScalarOp op) {
  Value* y = node.binary(op, dequantized(node, 0), dequantized(node, 3));
  node.setOutput(quantized(node, y, 6, node.input(0)->dataType()));
}

template <class Compute>
void importQLinearUnary(NodeImport& node, Compute compute) {
  node.setOutput(quantized(node, compute(dequantized(node, 0)), 3, node.input(0)->dataType()));
}

}  // namespace

void importQLinearAdd(NodeImport& node) { importQLinearBinary(node, ScalarOp::kAdd); }
void importQLinearMul(NodeImport& node) { importQLinearBinary(node, ScalarOp::kMul); }

void importQLinearSigmoid(NodeImport& node) {
  importQLinearUnary(node, [&](Value* x) { return node.unary(ScalarOp::kSigmoid, x); });
}

void importQLinearLeakyRelu(NodeImport& node) {
  importQLinearUnary(node, [&](Value* x) {
    Formula formula;
    const Term t = formula.input(0, x->dataType());
    return node.pointwise({x}, formula.take(where(t < 0, t * node.number("alpha", 0.01), t)));
  });
}

// Before opset 13 of Softmax, which an attribute tells, it runs over all dimensions from the axis.
void importQLinearSoftmax(NodeImport& node) {
  importQLinearUnary(node, [&](Value* x) {
    const bool flattens = node.integer("opset", 13) < 13;
    const int64_t axis = node.axisAttribute("axis", flattens ? 1 : -1, x->rank());
    return softmax(node, x, axis, flattens);
  });
}

void importQLinearReduceMean(NodeImport& node) {
  importQLinearUnary(node, [&](Value* x) {
    std::vector<int64_t> axes = node.integers("axes");
    if (axes.empty()) axes = axisRange(0, x->rank());
    return reduce(node, ReduceKind::kMean, x, node.axes(axes, x->rank()),
                  node.flag("keepdims", true));
  });
}

void importQLinearAveragePool(NodeImport& node) {
  const bool last = node.flag("channels_last");
  importQLinearUnary(node, [&](Value* x) {
    if (last) x = channelsFirst(node, x);
    PoolAttrs attrs;
    attrs.kind = PoolKind::kAverage;
    Value* y = pool(node, attrs, x).y;
    return last ? channelsLast(node, y) : y;
  });
}

void importQLinearGlobalAveragePool(NodeImport& node) {
  const bool last = node.flag("channels_last");
  importQLinearUnary(node, [&](Value* x) {
    if (x->rank() < 3) node.invalid("its input must have rank 3 or more and has ", x->rank());
    return reduce(node, ReduceKind::kMean, x,
                  last ? axisRange(1, x->rank() - 1) : axisRange(2, x->rank()));
  });
}

// Scale and zero point of the result, then a tensor, its scale and its zero point for each part.
void importQLinearConcat(NodeImport& node) {
  Value *scale = oneNumber(node, node.input(0)), *zeroPoint = oneNumber(node, node.input(1));
  std::vector<Value*> parts;
  for (int i = 2; i < node.inputCount(); i += 3)
    parts.push_back(quantize(node, dequantized(node, i), scale, zeroPoint, zeroPoint->dataType()));
  if (parts.empty()) node.invalid("it has nothing to concatenate");
  const int64_t axis = node.axis(node.integer("axis"), parts[0]->rank());
  node.setOutput(node.concat(std::move(parts), axis));
}

void importQLinearWhere(NodeImport& node) {
  Value *condition = node.input(0), *x = dequantized(node, 1), *y = dequantized(node, 4);
  Formula formula;
  const Term chosen = formula.input(0, DataType::kBool);
  const Term result =
      where(chosen, formula.input(1, x->dataType()), formula.input(2, y->dataType()));
  node.setOutput(quantized(node, node.pointwise({condition, x, y}, formula.take(result)), 7,
                           node.input(1)->dataType()));
}

// Sums of 8-bit integers in 32 bits.
void importReduceSumInteger(NodeImport& node) {
  Value* x = node.input(0);
  x = node.cast(x, isSigned(x->dataType()) ? DataType::kI32 : DataType::kU32);
  std::vector<int64_t> axes = node.integers("axes");
  if (axes.empty()) axes = axisRange(0, x->rank());
  node.setOutput(
      reduce(node, ReduceKind::kSum, x, node.axes(axes, x->rank()), node.flag("keepdims", true)));
}

}  // namespace camshaft::onnx::importer
