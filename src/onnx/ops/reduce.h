#pragma once

#include "onnx/node_import.h"
#include "ops/reduce.h"

namespace camshaft::onnx::importer {

void importReduce(NodeImport& node, ReduceKind kind);
Value* reduce(const NodeImport& node, ReduceKind kind, Value* x, std::vector<int64_t> axes,
              bool keepDims = true);
// begin, begin + 1, ..., end - 1
std::vector<int64_t> axisRange(int64_t begin, int64_t end);

}  // namespace camshaft::onnx::importer
