#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// start, start + delta, ...: `count` elements of the scalars' type.
Value* counting(const NodeImport& node, Value* start, Value* delta, Dim count);
// 0, 1, ..., count - 1
Value* counting(const NodeImport& node, DataType type, Dim count);

}  // namespace camshaft::onnx::importer
