// Symbolic sizes: bounds that use what is known of the symbols, and sizes as tensors.
#pragma once

#include "onnx/input_sizes.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// max(a, b) and min(a, b), simplified where what is known of the symbols decides.
Dim atLeast(InputSizes& sizes, const Dim& a, const Dim& b);
Dim atMost(InputSizes& sizes, const Dim& a, const Dim& b);

// Element values as dimensions when they are known to be whole: integers with known contents,
// those cast to floats, and whole constants.
std::optional<std::vector<Dim>> wholeNumbers(const NodeImport& node, const Value* value);

// Element values of an integer vector of which element i is at least low[i], which may be negative
// as symbols are not: where they are read at run time it is value - low[i] that becomes a symbol.
std::vector<Dim> dimsFrom(const NodeImport& node, Value* values, const std::vector<Dim>& low);

// The vector with as many elements as it must have, where only the run knows that it has.
Value* withLength(const NodeImport& node, Value* vector, std::optional<int64_t> length);

// A rank-0 i64 tensor with the size as its value.
Value* sizeTensor(const NodeImport& node, const Dim& size);

// x[start:end:step] along a dimension of this size, by Python's rules.
struct SliceBounds {
  Dim start, size;
};
SliceBounds sliceBounds(InputSizes& sizes, const Dim& size, const Dim& start, const Dim& end,
                        int64_t step);

}  // namespace camshaft::onnx::importer
