// Convolutions whose window only the run knows: what its taps see is gathered, and multiplied.
#pragma once

#include "onnx/ops/window.h"

namespace camshaft::onnx::importer {

// Kernels are chosen, and their loops laid out, for one window.
bool hasRunTimeWindow(const Value* weights);

// Strides, dilations and pads, which are attributes; the kernel in it means nothing.
Window attributesOf(const NodeImport& node, const Value* x, const Value* weights);

Value* convolveAtRunTime(const NodeImport& node, Value* x, Value* weights, Value* bias);

// The transpose, of the same weights [C, M/groups, kernel...]; `crops` are its pads.
Value* convolveTransposedAtRunTime(const NodeImport& node, Value* x, Value* weights, Value* bias,
                                   const std::vector<int64_t>& outputPadding,
                                   const RunTimePads& crops);

// weights [M, C/groups, kernel...] · columns [N, C, taps..., windows...], whose windows are these,
// and a bias for each of the M.
Value* multiplyColumns(const NodeImport& node, Value* weights, Value* columns, const Shape& windows,
                       Value* bias);

}  // namespace camshaft::onnx::importer
