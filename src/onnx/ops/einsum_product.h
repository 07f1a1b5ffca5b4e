#pragma once

#include <string>

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// An operand of an einsum with a label for every dimension.
struct Labelled {
  Value* value;
  std::string labels;
};

// The contraction of two operands as sums, transposes and one matrix product; null where it is not
// that: labels within an operand that repeat, sizes that broadcast, integers.
Value* einsumProduct(const NodeImport& node, Labelled a, Labelled b, const std::string& result);

}  // namespace camshaft::onnx::importer
