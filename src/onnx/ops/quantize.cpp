#include "onnx/ops/quantize.h"

#include <algorithm>

#include "onnx/ops/cast.h"
#include "onnx/ops/elementwise.h"
#include "onnx/quantization.h"
#include "onnx/size_rules.h"
#include "ops/gemm_int8.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

Value* quantizationOperand(const NodeImport& node, Value* operand, Value* x, int64_t axis,
                           int64_t blockSize) {
  if (!operand || operand->rank() == 0) return operand;
  if (operand->rank() == 1 && operand->shape()[0].isConstant(1)) return node.reshape(operand, {});
  if (blockSize == 0) return alongAxis(node, operand, axis, x->rank());
  if (blockSize < 0 || operand->rank() != x->rank())
    node.invalid("blocks need a positive block_size and a scale of rank ", x->rank());
  Shape blocks = x->shape();
  blocks[axis] = ceilDiv(blocks[axis], blockSize);
  requireShape(node, operand, "scale or zero point", blocks);
  Shape split = operand->shape();
  split.insert(split.begin() + axis + 1, Dim(1));
  Shape repeated = split;
  repeated[axis + 1] = blockSize;
  Shape merged = operand->shape();
  merged[axis] = merged[axis] * blockSize;
  Value* spread = node.reshape(node.expand(node.reshape(operand, split), repeated), merged);
  if (merged[axis] == x->shape()[axis]) return spread;
  SliceAttrs slice;  // the last block may be cut short
  slice.axes = {axis};
  slice.starts = {0};
  slice.sizes = {x->shape()[axis]};
  slice.steps = {1};
  return node.add(&ops::Slice, {spread}, std::move(slice));
}

namespace {

// Narrow floats rarely have a zero point other than zero; models still state it.
bool matters(const NodeImport& node, const Value* zeroPoint) {
  if (!zeroPoint) return false;
  const auto known = isFloat(zeroPoint->dataType()) ? node.knownNumbers(zeroPoint) : std::nullopt;
  return !known || std::any_of(known->begin(), known->end(), [](double z) { return z != 0; });
}

// They tell what the elements mean, and never make more of them.
void requireOperands(const NodeImport& node, const Value* x, const Value* scale,
                     const Value* zeroPoint) {
  requireBroadcastsTo(node, scale, "scale", x->shape());
  if (zeroPoint) requireBroadcastsTo(node, zeroPoint, "zero point", x->shape());
}

struct Operation {
  std::vector<Value*> inputs;
  std::optional<DataType> zeroPoint;
};

Operation operationOn(const NodeImport& node, Value* x, Value* scale, Value* zeroPoint) {
  if (!matters(node, zeroPoint)) return {{x, scale}, std::nullopt};
  return {{x, scale, zeroPoint}, zeroPoint->dataType()};
}

}  // namespace

Value* quantize(const NodeImport& node, Value* x, Value* scale, Value* zeroPoint, DataType type) {
  requireOperands(node, x, scale, zeroPoint);
  const Operation operation = operationOn(node, x, scale, zeroPoint);
  return node.pointwise(operation.inputs,
                        quantization(x->dataType(), scale->dataType(), operation.zeroPoint, type));
}

Value* dequantize(const NodeImport& node, Value* x, Value* scale, Value* zeroPoint,
                  std::optional<DataType> type) {
  requireOperands(node, x, scale, zeroPoint);
  const Operation operation = operationOn(node, x, scale, zeroPoint);
  return node.pointwise(operation.inputs,
                        dequantization(x->dataType(), scale->dataType(), operation.zeroPoint,
                                       type.value_or(scale->dataType())));
}

namespace {

struct Operands {
  Value *scale, *zeroPoint;
};

Operands operandsOf(const NodeImport& node, Value* x) {
  const int64_t blockSize = node.integer("block_size", 0);
  // The default axis, 1, is meaningless for a vector; then, as for one scale in all, it is not
  // read.
  const bool perAxis = node.input(1)->rank() > 0 && x->rank() > 1;
  const int64_t axis = perAxis ? node.axisAttribute("axis", 1, x->rank()) : 0;
  if (blockSize == 0 && x->rank() > 0 && node.input(1)->rank() == 1)
    requireBroadcastsTo(node, node.input(1), "scale", {x->shape()[axis]});
  if (const Value* zeroPoint = node.optionalInput(2)) {
    if (node.input(1)->rank() == 0)
      requireSize(node, numElements(zeroPoint->shape()), "zero points", 1);
    else
      requireBroadcastsTo(node, zeroPoint, "zero point", node.input(1)->shape());
  }
  return {quantizationOperand(node, node.input(1), x, axis, blockSize),
          quantizationOperand(node, node.optionalInput(2), x, axis, blockSize)};
}

}  // namespace

void importQuantizeLinear(NodeImport& node) {
  Value* x = node.input(0);
  const auto [scale, zeroPoint] = operandsOf(node, x);
  const DataType type =
      zeroPoint ? zeroPoint->dataType() : node.dataType("output_dtype", DataType::kU8);
  const DataType ofX = isArithmetic(x->dataType()) ? x->dataType() : DataType::kF32;
  const DataType precision =
      node.dataType("precision", isArithmetic(scale->dataType()) ? scale->dataType() : ofX);
  const bool isUnsaturated = isFloat(type) && bitsOf(type) == 8 && !node.flag("saturate", true);
  Value* exact = node.cast(x, precision);
  node.setOutput(isUnsaturated ? castUnsaturated(
                                     node, quantize(node, exact, scale, zeroPoint, precision), type)
                               : quantize(node, exact, scale, zeroPoint, type));
}

void importDequantizeLinear(NodeImport& node) {
  Value* x = node.input(0);
  const auto [scale, zeroPoint] = operandsOf(node, x);
  const DataType ofScale = isArithmetic(scale->dataType()) ? scale->dataType() : DataType::kF32;
  node.setOutput(dequantize(node, x, scale, zeroPoint, node.dataType("output_dtype", ofScale)));
}

DynamicallyQuantized quantizeDynamically(const NodeImport& node, Value* x) {
  const Node* result =
      node.addNode(&ops::DynamicQuantize, {node.cast(x, DataType::kF32)}, NoAttrs{});
  return {result->output(0), result->output(1), result->output(2)};
}

void importDynamicQuantizeLinear(NodeImport& node) {
  const DynamicallyQuantized result = quantizeDynamically(node, node.input(0));
  node.setOutput(0, result.values);
  node.setOutput(1, result.scale);
  node.setOutput(2, result.zeroPoint);
}

}  // namespace camshaft::onnx::importer
