// How each operator of the IR is spelled in ONNX.
#pragma once

#include <string>

#include "onnx/write/graph_writer.h"
#include "ops/reduce.h"

namespace camshaft::onnx::writer {

// Writes the node, or returns why it cannot and has written nothing.
using Printer = std::string (*)(GraphWriter& writer, const Node& node);

// Null for operators that passes never make or change: they are written as the ONNX nodes they
// came from (originals.h), or not at all.
Printer printerOf(Op op);

// The printer's, or a refusal that names the operator when it has none.
std::string print(GraphWriter& writer, const Node& node);

// Pads as ONNX has them: all begins, then all ends.
std::vector<int64_t> joined(std::vector<int64_t> begin, const std::vector<int64_t>& end);

// A reduction of a tensor written already, as `result` or under a new name (reduce.cpp).
Name addReduction(GraphWriter& writer, ReduceKind kind, Name x, std::vector<int64_t> axes,
                  bool keepDims, const Value* result = nullptr);

// Gemm for an addition to a product of matrices that nothing else reads; false: it is no such.
bool printGemm(GraphWriter& writer, const Node& addition);

// What a search found, as its Slice gives it, and how much that is; false: it is no such.
bool printResults(GraphWriter& writer, const Node& slice);
bool printCount(GraphWriter& writer, const Node& search, const Value* wanted);

}  // namespace camshaft::onnx::writer
