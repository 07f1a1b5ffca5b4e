// Kernels in which threads take the outputs in order, a few neighbours each.
#pragma once

#include <string>
#include <string_view>

#include "backends/cuda/codegen/store.h"

namespace camshaft::cuda {

// The operands are x0, x1, ..., the result y (printElementStore). The thread's first output has the
// linear position `first`; the family prints what computes its `width` results and calls
// store(first, results).
class ElementKernel {
 public:
  ElementKernel(std::string_view what, const Node& node, const BuildContext& context, int width,
                Results kind, int threads = 256);

  // Prints `at`, the coordinates of `first` in `view`: the output's shape, or dimensions of it
  // joined.
  void printCoordinates(const Shape& view);
  // Prints the results one by one and their store. The text of each may use `lane`.
  void printResults(const std::string& value, const std::string& laneStatements = {});

  std::string size(const Dim& dim) { return text.size(dim); }
  Prepared prepared();

  KernelText text;

 private:
  int width_, threadsPerBlock_;
  std::string resultType_;
  Dim threads_;
};

}  // namespace camshaft::cuda
