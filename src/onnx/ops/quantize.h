// Linear quantisation as pointwise arithmetic.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Scale or zero point as it broadcasts against x: one number, one per slice of `axis`, or one per
// block of `blockSize` elements along it.
Value* quantizationOperand(const NodeImport& node, Value* operand, Value* x, int64_t axis,
                           int64_t blockSize);
// saturate(round(x / scale) + zeroPoint)
Value* quantize(const NodeImport& node, Value* x, Value* scale, Value* zeroPoint, DataType type);
// (x - zeroPoint) * scale, in the scale's type
Value* dequantize(const NodeImport& node, Value* x, Value* scale, Value* zeroPoint);

}  // namespace camshaft::onnx::importer
