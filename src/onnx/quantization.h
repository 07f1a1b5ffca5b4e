// Linear quantisation as scalar expressions, for whoever adds nodes that quantise.
#pragma once

#include <optional>

#include "ir/expr.h"

namespace camshaft::onnx::importer {

// saturate(round(x / scale) + zeroPoint) of inputs x, scale and zeroPoint, where there is one; the
// division is that of x's type where it is a float.
Expr quantization(DataType x, DataType scale, std::optional<DataType> zeroPoint, DataType to);
// (x - zeroPoint) * scale of the same inputs, rounded once.
Expr dequantization(DataType x, DataType scale, std::optional<DataType> zeroPoint, DataType to);

// A scale may be of a type that nothing can be computed in: an integer, or a power of two.
bool isArithmetic(DataType type);

}  // namespace camshaft::onnx::importer
