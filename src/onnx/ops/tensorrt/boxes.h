// Boxes [..., 4] of detectors: two corners, or centre and size.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Two of the numbers of each box, and boxes of two such parts.
Value* boxPart(const NodeImport& node, Value* boxes, int64_t begin);
Value* boxOf(const NodeImport& node, Value* first, Value* second);

Value* orderedCorners(const NodeImport& node, Value* boxes);
Value* cornersOfCentred(const NodeImport& node, Value* boxes);
Value* centredOfCorners(const NodeImport& node, Value* boxes);
// Boxes of pixels, which are as wide as the number of their pixels.
Value* withLastPixel(const NodeImport& node, Value* boxes);
// [x, y, x, y] as [y, x, y, x], and back.
Value* swappedAxes(const NodeImport& node, Value* boxes);

// Centred boxes that corrections (dx, dy, dw, dh) move and scale.
Value* corrected(const NodeImport& node, Value* centred, Value* corrections);

Value* clamped(const NodeImport& node, Value* x, double low, double high);

}  // namespace camshaft::onnx::importer
