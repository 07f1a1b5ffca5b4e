// Linear quantisation as pointwise arithmetic.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Scale or zero point as it broadcasts against x: one number, one per slice of `axis`, or one per
// block of `blockSize` elements along it.
Value* quantizationOperand(const NodeImport& node, Value* operand, Value* x, int64_t axis,
                           int64_t blockSize);
// saturate(round(x / scale) + zeroPoint); the division is that of x's type where it is a float.
Value* quantize(const NodeImport& node, Value* x, Value* scale, Value* zeroPoint, DataType type);
// (x - zeroPoint) * scale, rounded once, to the scale's type unless another is given
Value* dequantize(const NodeImport& node, Value* x, Value* scale, Value* zeroPoint,
                  std::optional<DataType> type = {});

// x in u8, its range widened to hold zero and mapped to 0..255; scale and zero point are scalars.
struct DynamicallyQuantized {
  Value *values, *scale, *zeroPoint;
};
DynamicallyQuantized quantizeDynamically(const NodeImport& node, Value* x);

}  // namespace camshaft::onnx::importer
