// Axes that are known at run time only, for operators whose result still has a known rank.
#pragma once

#include "onnx/ops/reduce.h"

namespace camshaft::onnx::importer {

// Element i of a vector, as a scalar.
Value* elementOf(const NodeImport& node, Value* vector, int64_t i);
// An i64 vector of length `rank`: values[i] at axes[i] (which may count from the end), `missing`
// elsewhere.
Value* spreadOverAxes(const NodeImport& node, Value* axes, Value* values, int64_t rank,
                      double missing);
// One at the given axes, zero elsewhere: i64[rank].
Value* axisMask(const NodeImport& node, Value* axes, int64_t rank);

Value* reduceAtRunTime(const NodeImport& node, ReduceKind kind, Value* x, Value* axes,
                       bool keepDims);
Value* cumulateAtRunTime(const NodeImport& node, Value* x, Value* axis, CumSumAttrs attrs);
Value* squeezeAtRunTime(const NodeImport& node, Value* x, Value* axes);
Value* unsqueezeAtRunTime(const NodeImport& node, Value* x, Value* axes);

}  // namespace camshaft::onnx::importer
