// What generated kernels print around their own code: operands of the epilogue, loads, and the
// store of results with the epilogue applied.
#pragma once

#include <string>
#include <string_view>

#include "backends/cuda/codegen/walk.h"

namespace camshaft::cuda {

// Why the node's types or epilogue cannot be printed; empty when they can.
std::string whyNotPrinted(const Node& node);
// The same as an answer to supports().
Verdict isPrinted(const Node& node, const BuildContext&);

// The inputs of a node's epilogue as operands of the kernel, after its own.
void declareEpilogue(KernelText& kernel, const Node& node);

// Prints, as `load`, the reading of `width` elements of x0, of this type, into an array of compute
// type:
//   const auto load = [&](INDICES, T (&values)[width]) { ... };
// `indices` declares those indices of the walk that change, as in "Index row, Index column"; the
// others are variables that stand before.
void printLoad(KernelText& kernel, Walk& walk, std::string_view indices, DataType type,
               const Access& access, int width);

// What results are before the epilogue: numbers of the compute type, or elements as stored, which
// move bit by bit where there is no epilogue.
enum class Results { kComputed, kStored };

// Prints the store of `width` results of output 0 with the epilogue applied, as
//   store(INDICES, const T (&results)[width])
// which is a ResultStore (device/result_store.cuh). `walk` walks that output.
void printStore(KernelText& kernel, const Node& node, Walk& walk, std::string_view indices,
                int width, Results kind = Results::kComputed);

// Declares the node's inputs as x0, x1, ..., its epilogue's, and its result as y, and prints
// store(first, results) by the linear position of the first of them.
void printElementStore(KernelText& kernel, const Node& node, int width, Results kind);

}  // namespace camshaft::cuda
